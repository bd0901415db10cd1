import { Gauge, Histogram, type Registry } from 'prom-client';
import { waitSeconds } from './buckets.ts';

export function createSandboxMetrics(registry: Registry) {
  const starts = new Histogram({
    name: 'flowrun_sandbox_start_seconds',
    help: 'How long the start of a sandbox took; over: its run had ended meanwhile.',
    labelNames: ['outcome'],
    buckets: waitSeconds,
    registers: [registry],
  });
  for (const outcome of ['started', 'cancelled', 'failed']) starts.zero({ outcome });
  return {
    sandboxStart: (outcome: 'started' | 'cancelled' | 'failed', tookMs: number): void =>
      starts.observe({ outcome }, tookMs / 1_000),
  };
}

export interface Places {
  capacity: number;
  /** How many sandboxes this host looks after now. */
  countSandboxes: () => number;
}

export function exportPlaces(registry: Registry, { capacity, countSandboxes }: Places): void {
  const sandboxes = new Gauge({
    name: 'flowrun_sandboxes',
    help: 'Sandboxes that this host looks after.',
    registers: [],
    collect() {
      this.set(countSandboxes());
    },
  });
  const places = new Gauge({
    name: 'flowrun_sandbox_places',
    help: 'How many sandboxes this host takes.',
    registers: [],
  });
  places.set(capacity);
  registry.registerMetric(sandboxes);
  registry.registerMetric(places);
}
