import { pause } from '../wait.ts';
import { diskUsage } from './size.ts';

const everyMs = 5_000;
const lookTimeoutMs = 60_000;
/** A tree that takes long to count is counted less often: looking takes a tenth of the time at most. */
const restPerLook = 9;

/** Calls once when the trees together are larger than they may be. */
export async function watchSize(
  { paths, maxBytes, signal }: { paths: string[]; maxBytes: number; signal: AbortSignal },
  onOver: () => void,
): Promise<void> {
  let restMs = everyMs;
  for (;;) {
    await pause(restMs, signal);
    if (signal.aborted) return;
    const began = performance.now();
    const bytes = await diskUsage(paths, lookTimeoutMs);
    if (bytes !== null && bytes > maxBytes) return onOver();
    restMs = Math.max(everyMs, restPerLook * (performance.now() - began));
  }
}
