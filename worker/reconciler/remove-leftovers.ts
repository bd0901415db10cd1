import { takesPlace } from '../../core/run.ts';
import type { SandboxRef } from '../../workflows/activities.ts';
import type { ReconcilerDeps } from './deps.ts';

/** Removes this host's sandboxes that no run needs: it has ended, or goes on in a later one. */
export async function removeLeftovers(deps: ReconcilerDeps): Promise<void> {
  const { logger } = deps;
  for (const { runId, generation, hostId } of await deps.listSandboxes()) {
    const ref = { runId, generation };
    try {
      if (hostId !== deps.hostId || (await isNeeded(deps, ref))) continue;
      await deps.removeSandbox(ref);
      logger.info(ref, 'leftover_sandbox_removed');
    } catch (error) {
      logger.warn({ err: error, ...ref }, 'leftover_sandbox_not_removed');
    }
  }
}

async function isNeeded(deps: ReconcilerDeps, { runId, generation }: SandboxRef): Promise<boolean> {
  const run = await deps.runs.find(runId);
  return run !== null && takesPlace(run) && run.generation === generation;
}
