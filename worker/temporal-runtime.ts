import { Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/** One log for all of the process, and its signals are ours: shutdown has an order of its own. */
export function installTemporalRuntime(logger: Logger): void {
  const log = logger.child({ part: 'temporal' });
  const write =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta?: Record<string, unknown>): void =>
      log[level]({ ...meta }, message);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
    logger: {
      trace: write('trace'),
      debug: write('debug'),
      // Its life-cycle is told by our own lines.
      info: write('debug'),
      warn: (message, meta) => write(isExpected(message) ? 'debug' : 'warn')(message, meta),
      error: write('error'),
      log: (level, message, meta) => write(levels[level])(message, meta),
    },
  });
}

/** Only one of our queues has workflows. */
const isExpected = (message: string): boolean => message.startsWith('No workflows registered');

const levels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const;
