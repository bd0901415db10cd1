import {
  type LogLevel,
  type LogMetadata,
  type PrometheusMetricsExporter,
  Runtime,
} from '@temporalio/worker';
import type { Logger } from 'pino';

/** One log for all of the process, and its signals are ours: shutdown has an order of its own. */
export function installTemporalRuntime(
  logger: Logger,
  metrics: { host: string; port: number } | null,
): void {
  const log = logger.child({ part: 'temporal' });
  const say = (level: LogLevel, message: string, meta: LogMetadata = {}): void =>
    log[isExpected(message) ? 'debug' : levels[level]](renamed(meta), message);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metrics && { metrics: exporter(metrics) }),
    },
    logger: {
      log: say,
      trace: (message, meta) => say('TRACE', message, meta),
      debug: (message, meta) => say('DEBUG', message, meta),
      info: (message, meta) => say('INFO', message, meta),
      warn: (message, meta) => say('WARN', message, meta),
      error: (message, meta) => say('ERROR', message, meta),
    },
  });
}

/** In Rust, at an address of its own; named and measured as Prometheus has it. */
function exporter({ host, port }: { host: string; port: number }): PrometheusMetricsExporter {
  const bindAddress = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const asPrometheusHasIt = { countersTotalSuffix: true, unitSuffix: true };
  return { prometheus: { bindAddress, useSecondsForDurations: true, ...asPrometheusHasIt } };
}

/** What Temporal calls a run is one history of a workflow, and no run of ours. */
function renamed({ runId, ...meta }: LogMetadata): LogMetadata {
  const workflowRunId: unknown = runId;
  return workflowRunId === undefined ? meta : { ...meta, workflowRunId };
}

/** Its life-cycle is told by our own lines. */
const levels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const;

/** Only one of our queues has workflows. */
const isExpected = (message: string): boolean => message.startsWith('No workflows registered');
