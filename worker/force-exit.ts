import type { Logger } from 'pino';

const graceMs = 5_000;

/**
 * Everything is closed, so the process ends by itself. What still keeps it after a while is nobody's:
 * a call that is never answered, a thread of a library.
 */
export function forceExitAfterGrace(logger: Logger): void {
  const lingering = setTimeout(() => {
    logger.warn({ kept: process.getActiveResourcesInfo() }, 'worker_forced_exit');
    process.exit(0);
  }, graceMs);
  lingering.unref();
}
