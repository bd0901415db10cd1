import type { Logger } from 'pino';
import { retryUntilAborted } from '../../lib/async/retry.ts';
import type { SelfFence } from '../host/self-fence.ts';
import type { RunningWorker } from './workers.ts';

interface TaskPolling {
  poll(): Promise<RunningWorker>;
  fence: Pick<SelfFence, 'fencedSignal' | 'untilUnfenced'>;
  onPolling(isPolling: boolean): void;
  logger: Logger;
}

/**
 * Polls for tasks until the signal, except while the host is fenced. Other workers then take the
 * tasks that it cannot run. If polling stops with an error, it is started again.
 */
export async function pollTasks(
  { poll, fence, onPolling, logger }: TaskPolling,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (err: unknown, attempt: number): void =>
    logger.warn({ err, attempt }, 'dependency_unavailable');
  while (!signal.aborted) {
    await fence.untilUnfenced(signal);
    const worker = await retryUntilAborted(poll, { signal, onFailure }).catch(ignoreAbort(signal));
    if (!worker) return;
    onPolling(true);
    logger.info('worker_ready');
    const stop = AbortSignal.any([signal, fence.fencedSignal()]);
    stop.addEventListener('abort', worker.stop, { once: true });
    if (stop.aborted) worker.stop();
    await worker.stopped.catch((err: unknown) => logger.error({ err }, 'task_polling_stopped'));
    onPolling(false);
  }
}

/** An error that is caused by the shutdown is not a failure. */
export function ignoreAbort(signal: AbortSignal) {
  return (error: unknown) => {
    if (!signal.aborted) throw error;
    return null;
  };
}
