import { sleep } from '../../../lib/async/sleep.ts';
import { type DiskUsage, diskUsage } from './disk-usage.ts';

export type SizeTrouble = 'too_large' | 'too_many';

export interface SizeBounds {
  workspaceBytes: number;
  workspaceInodes: number;
}

const everyMs = 5_000;
const lookTimeoutMs = 60_000;
/** A tree that takes long to count is counted less often: looking takes a tenth of the time at most. */
const restPerLook = 9;
/** A tree that cannot be counted in time, so often in a row, has too much in it. */
const endlessMax = 3;

/** Calls once when the trees together take more than they may. */
export async function watchSize(
  { paths, bounds, signal }: { paths: string[]; bounds: SizeBounds; signal: AbortSignal },
  onOver: (trouble: SizeTrouble) => void,
): Promise<void> {
  let restMs = everyMs;
  let endless = 0;
  for (;;) {
    await sleep(restMs, signal);
    if (signal.aborted) return;
    const began = performance.now();
    const usage = await diskUsage(paths, lookTimeoutMs);
    endless = usage === 'endless' ? endless + 1 : 0;
    const trouble = endless >= endlessMax ? 'too_many' : troubleOf(usage, bounds);
    if (trouble !== null) return onOver(trouble);
    restMs = Math.max(everyMs, restPerLook * (performance.now() - began));
  }
}

function troubleOf(
  usage: DiskUsage | 'endless' | null,
  { workspaceBytes, workspaceInodes }: SizeBounds,
): SizeTrouble | null {
  if (usage === null || usage === 'endless') return null;
  if (usage.bytes > workspaceBytes) return 'too_large';
  return usage.inodes > workspaceInodes ? 'too_many' : null;
}
