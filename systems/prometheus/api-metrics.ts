import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RedisMemory } from '../../core/redis-memory.ts';
import { exportFleet, type FleetNumbers } from './fleet-metrics.ts';
import { createLabeledCounter } from './labeled-counter.ts';
import { type DiskSpace, exportPostgresDisk } from './postgres-metrics.ts';
import {
  type CountedPool,
  callSeconds,
  createLogMetrics,
  createRegistry,
  type DependencyChecks,
  exportDependencies,
  exportPools,
} from './process-metrics.ts';
import { exportRedisMemory } from './redis-metrics.ts';
import { type MetricsAddress, serveMetrics } from './server.ts';

interface WatchedApi {
  pools: readonly CountedPool[];
  checks: DependencyChecks;
  checkWithinMs: number;
  countFleet: () => Promise<FleetNumbers>;
  redisMemory: () => Promise<RedisMemory | null>;
  postgresDisk: () => DiskSpace | null;
}

/** All metrics of an API process. `codes`: every error code of the API. */
export function createApiMetrics(codes: readonly string[]) {
  const registry = createRegistry();
  return {
    ...createRequestMetrics(registry, codes),
    ...createAdmissionMetrics(registry),
    ...createStreamMetrics(registry),
    ...createLogMetrics(registry),
    watch({ pools, checks, checkWithinMs, ...watched }: WatchedApi): void {
      exportPools(registry, pools);
      exportDependencies(registry, checks, checkWithinMs);
      exportFleet(registry, watched.countFleet);
      exportRedisMemory(registry, watched.redisMemory);
      exportPostgresDisk(registry, watched.postgresDisk);
    },
    serve: (at: MetricsAddress) => serveMetrics(registry, at),
  };
}

interface AnsweredRequest {
  method: string;
  /** The route's pattern; null if no route matched. */
  route: string | null;
  status: number;
  /** The code in the error envelope. */
  code: string | null;
  /** Null if the duration does not measure the service, as for a stream. */
  seconds: number | null;
}

export function createRequestMetrics(registry: Registry, codes: readonly string[]) {
  const registers = [registry];
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'flowrun_http_requests_total',
    help: 'Requests answered, by route and status class.',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'flowrun_http_request_duration_seconds',
    help: 'Request duration, without streams and without the wait that the caller asked for.',
    labelNames,
    buckets: callSeconds,
    registers,
  });
  const errors = createLabeledCounter(registry, {
    name: 'flowrun_http_errors_total',
    help: 'Error responses, by error code.',
    label: 'code',
    values: codes,
  });

  return {
    answered({ method, route, status, code, seconds }: AnsweredRequest): void {
      const labels = {
        method,
        route: route ?? 'none',
        status: `${Math.floor(status / 100)}xx`,
      };
      requests.inc(labels);
      if (seconds !== null) durations.observe(labels, seconds);
      if (code !== null) errors.inc({ code });
    },
  };
}

const runOutcomes = [
  'admitted',
  'replay',
  'RUNNER_OFFLINE',
  'CONCURRENT_LIMIT',
  'MONTHLY_QUOTA',
  'BUDGET_REACHED',
  'UPSTREAM_UNAVAILABLE',
  'POSTGRES_DISK_SHORT',
  'FLOW_ARCHIVED',
  'PROJECT_ARCHIVED',
];
const messageOutcomes = [
  'stored',
  'known',
  'QUEUE_FULL',
  'RUNNER_OFFLINE',
  'CONCURRENT_LIMIT',
  'BUDGET_REACHED',
  'POSTGRES_DISK_SHORT',
  'FLOW_ARCHIVED',
  'PROJECT_ARCHIVED',
];

/** Admitted, replayed, or rejected by one of the limits. */
function createAdmissionMetrics(registry: Registry) {
  const runs = createLabeledCounter(registry, {
    name: 'flowrun_admissions_total',
    help: 'Requests to start a run, by outcome.',
    label: 'outcome',
    values: runOutcomes,
  });
  const messages = createLabeledCounter(registry, {
    name: 'flowrun_messages_total',
    help: 'Messages to sessions, by outcome.',
    label: 'outcome',
    values: messageOutcomes,
  });
  return {
    runDecided: (outcome: string): void => runs.inc({ outcome }),
    messageDecided: (outcome: string): void => messages.inc({ outcome }),
  };
}

/** Counted per stream, never per frame. */
function createStreamMetrics(registry: Registry) {
  const registers = [registry];
  const open = new Gauge({
    name: 'flowrun_streams_open',
    help: 'Streams that this process serves now.',
    registers,
  });
  const opened = new Counter({
    name: 'flowrun_streams_opened_total',
    help: 'Streams opened.',
    registers,
  });
  return {
    streamOpened(): void {
      open.inc();
      opened.inc();
    },
    streamClosed: (): void => open.dec(),
  };
}
