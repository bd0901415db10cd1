import type { FastifyRequest } from 'fastify';

/**
 * A path of this service as clients see it. `PUBLIC_URL` may have a path prefix, which the proxy in
 * front removes. So no route starts with the prefix, and every path in an answer does.
 */
export const publicPath = (publicUrl: string, path: string): string =>
  `${new URL(publicUrl).pathname.replace(/\/$/, '')}${path}`;

type Called = Pick<FastifyRequest, 'operator' | 'params'>;

/** The path of runs and flows for the caller. An operator has one such path per project. */
export function apiPathOf({ operator, params }: Called): string {
  if (operator === null) return '/api/v1';
  const { projectId } = params as { projectId: string }; // of every path with runs or flows
  return `/api/projects/${projectId}`;
}

export const apiUrlOf = (request: Called, { publicUrl }: { publicUrl: string }): string =>
  `${publicUrl}${apiPathOf(request)}`;
