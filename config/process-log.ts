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
 * Stops a process that cannot continue, with the event and the sentence that says what to do. It ends in
 * its own order, with exit code 1. Only the first error is logged.
 */
export function createStopWithError(logger: Logger, stopping: AbortController) {
  return (event: string, hint: string): void => {
    if (stopping.signal.aborted) return;
    logger.fatal({ hint }, event);
    process.exitCode = 1;
    stopping.abort();
  };
}
