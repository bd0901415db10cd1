import type { Logger } from 'pino';

const graceMs = 5_000;

/**
 * Everything is closed, so the process should exit. If a pending call or a library's thread keeps
 * it alive, it is ended after a grace period.
 */
export function forceExitAfterGrace(logger: Logger): void {
  const timer = setTimeout(() => {
    logger.warn({ resources: process.getActiveResourcesInfo() }, 'worker_forced_exit');
    process.exit(process.exitCode ?? 0);
  }, graceMs);
  timer.unref();
}
