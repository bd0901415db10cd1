import { createAdmissionMetrics } from './admission-metrics.ts';
import { exportFleet, type FleetNumbers } from './fleet-metrics.ts';
import { createLogMetrics } from './log-metrics.ts';
import { exportParts } from './part-metrics.ts';
import { type CountedPool, exportPool } from './pool-metrics.ts';
import { createRegistry } from './registry.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { type MetricsAddress, serveMetrics } from './serve-metrics.ts';
import { createStreamMetrics } from './stream-metrics.ts';

export interface WatchedApi {
  pool: CountedPool;
  checks: Record<string, () => Promise<unknown>>;
  checkWithinMs: number;
  countFleet: () => Promise<FleetNumbers>;
}

/** All that an API process exports. `codes`: every error code that there is. */
export function createApiMetrics(codes: readonly string[]) {
  const registry = createRegistry();
  return {
    ...createRequestMetrics(registry, codes),
    ...createAdmissionMetrics(registry),
    ...createStreamMetrics(registry),
    ...createLogMetrics(registry),
    watch({ pool, checks, checkWithinMs, countFleet }: WatchedApi): void {
      exportPool(registry, pool);
      exportParts(registry, checks, checkWithinMs);
      exportFleet(registry, countFleet);
    },
    serve: (at: MetricsAddress) => serveMetrics(registry, at),
  };
}
