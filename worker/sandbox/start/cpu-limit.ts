import type { Logger } from 'pino';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import type { Sandboxes } from '../../../systems/docker/sandboxes.ts';

/**
 * An agent starts with more processors than its flow allows, and is limited afterwards. Safe to
 * repeat. Retried until it succeeds or the sandbox is released.
 */
export async function applyCpuLimit(
  { sandboxes, logger }: { sandboxes: Pick<Sandboxes, 'setCpus'>; logger: Logger },
  { containerId, cpus }: { containerId: string; cpus: number },
  signal: AbortSignal,
): Promise<void> {
  const onFailure = (error: unknown, attempt: number): void => {
    if (attempt === 1) logger.warn({ err: error }, 'cpu_limit_failed');
  };
  // After a release, the process that adopts the sandbox limits it again.
  await retryUntilAborted(() => sandboxes.setCpus(containerId, cpus), { signal, onFailure }).catch(
    () => undefined,
  );
}
