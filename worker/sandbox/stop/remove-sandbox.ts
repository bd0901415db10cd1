import { failpoint } from '../../../core/failpoint.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import { recordJournaledCalls } from '../../metering/record-journaled-calls.ts';
import type { SandboxDeps } from '../deps.ts';
import { foldersOf, removeTree } from '../sandbox-paths.ts';
import { findContainer } from '../start/adopt-sandbox.ts';

/**
 * Removes the container first, so that nothing writes any more, then the files. Model calls that
 * are only in the sandbox's journal are added to the ledger before. Safe to repeat. All generations
 * of a run share the socket's folder.
 */
export async function removeSandbox(
  deps: Pick<
    SandboxDeps,
    'sandboxes' | 'hostId' | 'dataDir' | 'projectQuotas' | 'ledger' | 'modelPrices' | 'now'
  >,
  ref: SandboxRef,
  { keepSocket, keepFolders }: { keepSocket: boolean; keepFolders: boolean },
): Promise<void> {
  const container = await findContainer(deps, ref);
  if (container !== null) await deps.sandboxes.remove(container.containerId);
  failpoint('remove.container');
  const { root, socket } = foldersOf(deps.dataDir, ref);
  await recordJournaledCalls(deps, root);
  if (!keepFolders) {
    await deps.projectQuotas.release(root);
    await removeTree(root);
  }
  failpoint('remove.folders');
  if (keepSocket) return;
  await removeTree(socket);
  failpoint('remove.socket');
}

/**
 * Removes the containers of this run's earlier generations from this host. All generations share
 * the socket, so an earlier one that still runs would receive the messages of this one.
 */
export async function removeEarlierSandboxes(
  { sandboxes, hostId }: Pick<SandboxDeps, 'sandboxes' | 'hostId'>,
  { runId, generation }: SandboxRef,
): Promise<void> {
  if (generation === 1) return;
  const isEarlier = (one: ListedSandbox): boolean =>
    one.hostId === hostId && one.generation < generation;
  for (const { containerId } of (await sandboxes.list({ runId })).filter(isEarlier)) {
    await sandboxes.remove(containerId);
  }
}
