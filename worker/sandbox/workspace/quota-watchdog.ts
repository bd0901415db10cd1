import { sleep } from '../../../lib/async/sleep.ts';
import { type DiskUsage, diskUsage } from './disk-usage.ts';

export type QuotaViolation = 'workspace_too_large' | 'workspace_too_many_files';

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
export async function watchDiskUsage(
  { paths, bounds, signal }: { paths: string[]; bounds: SizeBounds; signal: AbortSignal },
  onOver: (trouble: QuotaViolation) => void,
): Promise<void> {
  let restMs = everyMs;
  let endless = 0;
  for (;;) {
    await sleep(restMs, signal);
    if (signal.aborted) return;
    const began = performance.now();
    const usage = await diskUsage(paths, lookTimeoutMs);
    endless = usage === 'endless' ? endless + 1 : 0;
    const trouble = endless >= endlessMax ? 'workspace_too_many_files' : troubleOf(usage, bounds);
    if (trouble !== null) return onOver(trouble);
    restMs = Math.max(everyMs, restPerLook * (performance.now() - began));
  }
}

function troubleOf(
  usage: DiskUsage | 'endless' | null,
  { workspaceBytes, workspaceInodes }: SizeBounds,
): QuotaViolation | null {
  if (usage === null || usage === 'endless') return null;
  if (usage.bytes > workspaceBytes) return 'workspace_too_large';
  return usage.inodes > workspaceInodes ? 'workspace_too_many_files' : null;
}
