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
