import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { onResponseClose } from './on-response-close.ts';

/** Logs one line for each request; a successful probe only at `debug`. */
export function installRequestLog(app: App): void {
  app.decorateRequest('errorCode', null);
  onResponseClose(app, logRequest);
}

/**
 * Logs the route's pattern and never the URL: its query may hold a key, and its path a file name.
 */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { runId, flowId } = request.params as Record<string, string | undefined>; // strings, if any
  const { headersSent, writableFinished } = reply.raw;
  const level = isHealthyProbe(request, reply) ? 'debug' : 'info';
  request.log[level](
    {
      method: request.method,
      route: routeOf(request),
      status: headersSent ? reply.statusCode : null,
      clientDisconnected: writableFinished ? undefined : true,
      code: request.errorCode ?? undefined,
      durationMs: Math.round(reply.elapsedTime),
      keyId: request.caller?.key.keyId,
      projectId: request.caller?.key.projectId,
      operatorId: request.operator?.operatorId,
      tokenId: request.operator?.token?.tokenId,
      runId,
      flowId,
    },
    'request',
  );
}

const isHealthyProbe = (request: FastifyRequest, { raw, statusCode }: FastifyReply): boolean =>
  request.routeOptions.config.isProbe === true && raw.writableFinished && statusCode === 200;

/** Null for a path without a route. */
export const routeOf = (request: FastifyRequest): string | null =>
  request.is404 ? null : (request.routeOptions.url ?? null);
