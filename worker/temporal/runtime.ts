import {
  type LogLevel,
  type LogMetadata,
  type PrometheusMetricsExporter,
  Runtime,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { isRunFailure } from '../../core/temporal/run-failure.ts';

/**
 * Sends Temporal's log to ours, and leaves signals to main.ts, which shuts down in its own order.
 */
export function installTemporalRuntime(
  logger: Logger,
  metrics: { host: string; port: number } | null,
): void {
  const log = logger.child({ part: 'temporal' });
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void =>
    log[isExpected(message, meta) ? 'debug' : levels[level]](renamed(meta), message);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metrics && { metrics: exporter(metrics) }),
    },
    logger: {
      log: write,
      trace: (message, meta) => write('TRACE', message, meta),
      debug: (message, meta) => write('DEBUG', message, meta),
      info: (message, meta) => write('INFO', message, meta),
      warn: (message, meta) => write('WARN', message, meta),
      error: (message, meta) => write('ERROR', message, meta),
    },
  });
}

/** The Rust core serves its metrics itself, with Prometheus's names and units. */
function exporter({ host, port }: { host: string; port: number }): PrometheusMetricsExporter {
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const conventions = { countersTotalSuffix: true, unitSuffix: true };
  return { prometheus: { bindAddress, useSecondsForDurations: true, ...conventions } };
}

/** Temporal's run ID names one execution of a workflow, not one of our runs. */
function renamed({ runId, ...meta }: LogMetadata): LogMetadata {
  const workflowRunId: unknown = runId;
  return workflowRunId === undefined ? meta : { ...meta, workflowRunId };
}

/** INFO is demoted: our own log lines report the life cycle. */
const levels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const;

/** Only one of the queues has workflows. A workflow fails if its run has failed. */
const isExpected = (message: string, { error }: { error?: unknown }): boolean =>
  message.startsWith('No workflows registered') ||
  (message === 'Workflow failed' && error instanceof Error && isRunFailure(error.message));
