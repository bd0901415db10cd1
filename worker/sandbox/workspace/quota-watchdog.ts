import { limits } from '../../../core/limits.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { isUsedUp, type QuotaUsage } from '../../host/quota/project-quotas.ts';
import type { PauseState } from '../pause-state.ts';
import { type DiskUsage, diskUsage } from './disk-usage.ts';

export type QuotaViolation = 'workspace_too_large' | 'workspace_too_many_files';

interface SizeBounds {
  workspaceBytes: number;
  workspaceInodes: number;
}

interface WatchedDisk {
  paths: string[];
  bounds: SizeBounds;
  /** Also of deleted files that are open. Null if the kernel enforces no quota. */
  quotaUsage(): Promise<QuotaUsage | null>;
  pause: PauseState;
  signal: AbortSignal;
  everyMs?: number;
}

interface UsageObserver {
  onUsage(usage: DiskUsage): void;
  onViolation(violation: QuotaViolation): void;
}

const measureEveryMs = 5_000;
const usageTimeoutMs = 60_000;
/** A slow scan is repeated less often: scanning takes a tenth of the time at most. */
const restPerScan = 9;
/** A tree whose scan times out this often in a row has too many files. */
const maxTimeouts = 3;

/**
 * Calls once if the trees together exceed their quota, and before that with each usage. Measures a
 * paused sandbox once.
 */
export async function watchDiskUsage(
  { paths, bounds, quotaUsage, pause, signal, everyMs = measureEveryMs }: WatchedDisk,
  { onUsage, onViolation }: UsageObserver,
): Promise<void> {
  let restMs = everyMs;
  let timeouts = 0;
  for (;;) {
    await sleep(restMs, signal);
    if (signal.aborted) return;
    const pauseEnd = pause.pauseEnd();
    const began = performance.now();
    const usage = await diskUsage(paths, usageTimeoutMs);
    const isKnown = usage !== null && usage !== 'timeout';
    if (isKnown) onUsage(usage);
    timeouts = usage === 'timeout' ? timeouts + 1 : 0;
    const violation =
      timeouts >= maxTimeouts
        ? 'workspace_too_many_files'
        : (violationOf(usage, bounds) ?? usedUpQuota(await quotaUsage().catch(() => null)));
    if (violation !== null) return onViolation(violation);
    restMs = Math.max(everyMs, restPerScan * (performance.now() - began));
    // Bounded, in case the sandbox runs although its pause was recorded last.
    if (isKnown && !pauseEnd.aborted) await sleep(limits.sandbox.pausedPollMs, pauseEnd, signal);
  }
}

function violationOf(
  usage: DiskUsage | 'timeout' | null,
  { workspaceBytes, workspaceInodes }: SizeBounds,
): QuotaViolation | null {
  if (usage === null || usage === 'timeout') return null;
  if (usage.bytes > workspaceBytes) return 'workspace_too_large';
  return usage.inodes > workspaceInodes ? 'workspace_too_many_files' : null;
}

function usedUpQuota(usage: QuotaUsage | null): QuotaViolation | null {
  if (usage === null) return null;
  if (isUsedUp.bytes(usage)) return 'workspace_too_large';
  return isUsedUp.inodes(usage) ? 'workspace_too_many_files' : null;
}
