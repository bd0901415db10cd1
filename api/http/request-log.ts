import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { onResponseClose } from './on-response-close.ts';

/** One line a request, whatever came of it; of a probe that found the service well, for who debugs it. */
export function requestLog(app: App): void {
  app.decorateRequest('errorCode', null);
  onResponseClose(app, logRequest);
}

/**
 * The route's pattern, never the address itself, whose query may hold a key and whose path may hold a
 * file's name.
 */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { runId, flowId } = request.params as Record<string, string | undefined>; // strings, if any
  const { headersSent, writableFinished } = reply.raw;
  const level = foundWell(request, reply) ? 'debug' : 'info';
  request.log[level](
    {
      method: request.method,
      route: routeOf(request),
      status: headersSent ? reply.statusCode : null,
      callerLeft: writableFinished ? undefined : true,
      code: request.errorCode ?? undefined,
      durationMs: Math.round(reply.elapsedTime),
      keyId: request.caller?.key.keyId,
      projectId: request.caller?.key.projectId,
      operatorId: request.operator?.operatorId,
      runId,
      flowId,
    },
    'request',
  );
}

const foundWell = (request: FastifyRequest, { raw, statusCode }: FastifyReply): boolean =>
  request.routeOptions.config.isProbe === true && raw.writableFinished && statusCode === 200;

/** Null for what no route answers. */
export const routeOf = (request: FastifyRequest): string | null =>
  request.is404 ? null : (request.routeOptions.url ?? null);
