import { occupiesSlot, type Run } from '../../../core/runs/run.ts';
import type { ReconcilerDeps } from '../deps.ts';

/** Removes this host's sandboxes whose run has ended or has a later sandbox. */
export async function removeOrphanedSandboxes(deps: ReconcilerDeps): Promise<void> {
  const { logger } = deps;
  for (const { runId, generation, hostId } of await deps.listSandboxes()) {
    if (hostId !== deps.hostId) continue;
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

const isNeeded = (run: Run | null, generation: number): boolean =>
  run !== null && occupiesSlot(run) && run.generation === generation;

const requestOf = (run: Run | null): string | null => run?.requestId ?? null;
