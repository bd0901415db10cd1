import type { FastifyBaseLogger } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import type { ApiMetrics } from '../metrics.ts';

/** Of a request that was refused before any route or hook has seen it: its line, and its count. */
export function recordUnroutedRequest(
  { logger, metrics }: { logger: FastifyBaseLogger; metrics: Pick<ApiMetrics, 'answered'> },
  refused: { requestId: string; method: string | null; status: number; code: ErrorCode | null },
): void {
  const { method, status, code } = refused;
  logger.info({ ...refused, route: null }, 'request');
  metrics.answered({ method: method ?? 'none', route: null, status, code, seconds: null });
}
