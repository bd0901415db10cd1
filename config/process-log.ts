import type { Logger } from './logger.ts';

/** Logs uncaught exceptions and Node's warnings, which Node would print as plain text. */
export function logProcess(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'uncaught_exception');
    process.exit(1);
  });
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn({ err: warning }, 'node_warning'));
}

/**
 * For a process that cannot continue: logs the event with a hint, and starts the orderly shutdown,
 * which ends with exit code 1. Does nothing if the process is already stopping.
 */
export function createStopWithError(logger: Logger, stopping: AbortController) {
  return (event: string, hint: string): void => {
    if (stopping.signal.aborted) return;
    logger.fatal({ hint }, event);
    process.exitCode = 1;
    stopping.abort();
  };
}
