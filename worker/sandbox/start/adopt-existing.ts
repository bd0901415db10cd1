import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import { sandboxKey } from '../sandbox-key.ts';
import { findOrphans, removeFolders } from '../stop/orphaned-folders.ts';
import { hasStarted } from './adopt-sandbox.ts';

/**
 * Runs before the host polls for tasks. Adopts the sandboxes of active runs, and removes containers
 * and folders of ended or unknown runs. A container that was created but never started is left to
 * the start activity. A failed adoption is retried when the run's activity is retried.
 */
export async function adoptExistingSandboxes(
  deps: SandboxDeps,
  adopt: (ref: SandboxRef) => Promise<unknown>,
): Promise<void> {
  const living = await deps.runs.activeOnHost(deps.hostId);
  const needed = new Set(living.map(sandboxKey));
  const own = (await deps.sandboxes.list()).filter(({ hostId }) => hostId === deps.hostId);
  const adopted = own.filter((one) => needed.has(sandboxKey(one)) && hasStarted(one));
  const orphaned = own.filter((one) => !needed.has(sandboxKey(one)));

  const logFailure = async (runId: string, err: unknown, event: string): Promise<void> =>
    deps.logger.warn({ err, ...(await deps.runLogContext(runId)) }, event);
  await forEach(adopted, {
    work: ({ runId, generation }) => adopt({ runId, generation }),
    onFailure: ({ runId }, err) => logFailure(runId, err, 'sandbox_adoption_failed'),
  });
  await forEach(orphaned, {
    work: ({ containerId }) => deps.sandboxes.remove(containerId),
    onFailure: ({ runId }, err) => logFailure(runId, err, 'sandbox_removal_failed'),
  });
  await removeFolders(deps, (await findOrphans(deps)).folders);
  deps.logger.info({ adopted: adopted.length, removed: orphaned.length }, 'sandboxes_adopted');
}

async function forEach(sandboxes: ListedSandbox[], { work, onFailure }: ForEach): Promise<void> {
  const tried = sandboxes.map((sandbox) =>
    work(sandbox).catch((error: unknown) => onFailure(sandbox, error)),
  );
  await Promise.all(tried);
}

interface ForEach {
  work(sandbox: ListedSandbox): Promise<unknown>;
  onFailure(sandbox: ListedSandbox, error: unknown): Promise<void>;
}
