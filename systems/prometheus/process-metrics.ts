// Metrics that every process exports, whichever part of the service it is.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { settlesWithin } from '../../lib/async/timeout.ts';

/** With Node's default metrics, which show a busy event loop. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Events that operators alert on: exported as 0 before they first occur. */
const alertedEvents: readonly (readonly [level: string, event: string])[] = [
  ['error', 'host_disk_full'],
  ['error', 'host_fenced'],
  ['error', 'task_polling_stopped'],
  ['error', 'request_failed'],
  ['warn', 'activity_failed'],
  ['warn', 'connection_lost'],
  ['warn', 'host_heartbeat_failed'],
  ['warn', 'orphaned_sandbox_removal_failed'],
  ['warn', 'reconcile_step_failed'],
  ['warn', 'run_ended_by_reconciler'],
  ['warn', 'sandbox_operation_retried'],
  ['warn', 'session_save_failed'],
  ['warn', 'workflow_start_deferred'],
];

const eventPattern = /^[a-z]+(?:_[a-z]+){0,7}$/;

/** A log line whose message is not an event name counts as `other`. */
export function createLogMetrics(registry: Registry) {
  const lines = new Counter({
    name: 'flowrun_log_lines_total',
    help: 'Log lines written, by event.',
    labelNames: ['level', 'event'],
    registers: [registry],
  });
  for (const [level, event] of alertedEvents) lines.inc({ level, event }, 0);
  return {
    lineWritten(level: string, text: string): void {
      lines.inc({ level, event: eventPattern.test(text) ? text : 'other' });
    },
  };
}

export interface CountedPool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

/** Counted at each scrape. */
export function exportPools(registry: Registry, pools: readonly CountedPool[]): void {
  const sum = (count: (pool: CountedPool) => number): number =>
    pools.reduce((total, pool) => total + count(pool), 0);
  const connections = new Gauge({
    name: 'flowrun_postgres_connections',
    help: 'Connections of this process to Postgres. waiting: queries that wait for a connection.',
    labelNames: ['state'],
    registers: [],
    collect() {
      this.set(
        { state: 'busy' },
        sum((pool) => pool.totalCount - pool.idleCount),
      );
      this.set(
        { state: 'idle' },
        sum((pool) => pool.idleCount),
      );
      this.set(
        { state: 'waiting' },
        sum((pool) => pool.waitingCount),
      );
    },
  });
  registry.registerMetric(connections);
}

export type DependencyChecks = Record<string, () => Promise<unknown>>;

/** Checked at each scrape. */
export function exportDependencies(
  registry: Registry,
  checks: DependencyChecks,
  timeoutMs: number,
): void {
  const up = new Gauge({
    name: 'flowrun_dependency_up',
    help: 'Whether a dependency of this process answers: 1 or 0.',
    labelNames: ['dependency'],
    registers: [],
    async collect() {
      const answers = Object.entries(checks).map(async ([dependency, check]) => {
        const succeeds = check().then(
          () => true,
          () => false,
        );
        const isUp = (await settlesWithin(timeoutMs, succeeds)) && (await succeeds);
        this.set({ dependency }, isUp ? 1 : 0);
      });
      await Promise.all(answers);
    },
  });
  registry.registerMetric(up);
}

/** In seconds: durations that a client waits for. */
export const callSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** In seconds: queueing and starting, up to the time limit. */
export const waitSeconds = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** In seconds: durations of runs. */
export const runSeconds = [5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600];
