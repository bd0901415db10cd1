import type { Logger } from './logger.ts';

/** What Node would print by itself is a line of the log like every other. */
export function logProcess(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'uncaught');
    process.exit(1);
  });
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn({ err: warning }, 'node_warning'));
}
