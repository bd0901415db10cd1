import type { Logger } from 'pino';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import type { Sandboxes } from '../../../systems/docker/sandbox.ts';

/**
 * An agent boots with more processors than its flow gives it. Safe to repeat; tried until the engine
 * has done it or the sandbox is let go of.
 */
export async function applyCpuLimit(
  { sandboxes, logger }: { sandboxes: Pick<Sandboxes, 'setCpus'>; logger: Logger },
  { containerId, cpus }: { containerId: string; cpus: number },
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown, attempt: number): void => {
    if (attempt === 1) logger.warn({ err: error }, 'cpu_limit_failed');
  };
  // Let go of: whoever takes the sandbox over limits it anew.
  await retryUntilAborted(() => sandboxes.setCpus(containerId, cpus), { signal, onFailure }).catch(
    () => undefined,
  );
}
