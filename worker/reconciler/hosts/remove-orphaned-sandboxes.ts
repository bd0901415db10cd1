import { occupiesSlot, type Run } from '../../../core/runs/run.ts';
import { sandboxKey } from '../../sandbox/sandbox-key.ts';
import type { ReconcilerDeps } from '../deps.ts';

/**
 * Removes this host's sandboxes whose run has ended or has a later sandbox. One statement finds the
 * sandboxes that are needed; only the others are looked up.
 */
export async function removeOrphanedSandboxes(deps: ReconcilerDeps): Promise<void> {
  const { logger, hostId } = deps;
  const own = (await deps.listSandboxes()).filter((one) => one.hostId === hostId);
  const needed = new Set((await deps.runs.neededOnHost(hostId)).filter(isActive).map(sandboxKey));
  for (const { runId, generation } of own.filter((one) => !needed.has(sandboxKey(one)))) {
    const ref = { runId, generation };
    let run: Run | null = null;
    try {
      run = await deps.runs.find(runId);
      if (isNeeded(run, generation)) continue;
      await deps.removeSandbox(ref);
      logger.info({ ...ref, requestId: requestOf(run) }, 'orphaned_sandbox_removed');
    } catch (err) {
      logger.warn({ err, ...ref, requestId: requestOf(run) }, 'orphaned_sandbox_removal_failed');
    }
  }
}

/** The others have ended, and only their files are needed. */
const isActive = ({ hasUnstoredFiles }: { hasUnstoredFiles: boolean }): boolean =>
  !hasUnstoredFiles;

const isNeeded = (run: Run | null, generation: number): boolean =>
  run !== null && occupiesSlot(run) && run.generation === generation;

const requestOf = (run: Run | null): string | null => run?.requestId ?? null;
