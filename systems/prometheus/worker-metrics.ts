import { createFrameMetrics } from './frame-metrics.ts';
import { createLogMetrics } from './log-metrics.ts';
import { type CountedPool, exportPool } from './pool-metrics.ts';
import { createRegistry } from './registry.ts';
import { createRunMetrics } from './run-metrics.ts';
import { createSandboxMetrics, exportPlaces, type Places } from './sandbox-metrics.ts';
import { type MetricsAddress, serveMetrics } from './serve-metrics.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

/** All that a worker process exports, but for what Temporal's SDK tells at its own address. */
export function createWorkerMetrics() {
  const registry = createRegistry();
  return {
    ...createRunMetrics(registry),
    ...createFrameMetrics(registry),
    ...createSandboxMetrics(registry),
    ...createWebhookMetrics(registry),
    ...createLogMetrics(registry),
    watch({ pool, ...places }: { pool: CountedPool } & Places): void {
      exportPool(registry, pool);
      exportPlaces(registry, places);
    },
    serve: (at: MetricsAddress) => serveMetrics(registry, at),
  };
}
