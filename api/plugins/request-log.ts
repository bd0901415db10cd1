import type { App } from '../app-types.ts';

/**
 * One line a request: the route's pattern, never the address itself, whose query may hold a key
 * and whose path may hold a file's name.
 */
export function requestLog(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { runId, flowId } = request.params as Record<string, string | undefined>; // strings, if any
    request.log.info(
      {
        method: request.method,
        route: request.is404 ? null : request.routeOptions.url,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime),
        keyId: request.caller?.key.keyId,
        projectId: request.caller?.key.projectId,
        runId,
        flowId,
      },
      'request',
    );
  });
}
