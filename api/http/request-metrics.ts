import type { App } from '../app-types.ts';
import type { ApiMetrics } from '../metrics.ts';
import { onResponseClose } from './on-response-close.ts';
import { routeOf } from './request-log.ts';

/**
 * Counts every answer, also one whose client disconnected before its end. The duration of a stream
 * and the wait that a client asked for do not measure the service, so the time excludes both.
 */
export function installRequestMetrics(app: App, metrics: Pick<ApiMetrics, 'answered'>): void {
  app.decorateRequest('requestedWaitMs', 0);
  onResponseClose(app, (request, reply) => {
    if (!reply.raw.headersSent) return;
    const isStream = request.routeOptions.config.isStream === true;
    metrics.answered({
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      code: request.errorCode,
      seconds: isStream ? null : (reply.elapsedTime - request.requestedWaitMs) / 1_000,
    });
  });
}
