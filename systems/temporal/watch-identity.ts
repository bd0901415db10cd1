import { limits } from '../../core/limits.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { Temporal } from './client.ts';

/** Verifies the identity of the server at once, and then periodically until the signal. */
export async function watchIdentity(
  { verifyIdentity }: Pick<Temporal, 'verifyIdentity'>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await verifyIdentity().catch(onFailure);
    await sleep(limits.temporal.identityEveryMs, signal);
  }
}
