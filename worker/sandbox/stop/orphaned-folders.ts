// Folders of sandboxes whose runs have ended, and which could not be removed then. Folders are listed before
// runs and containers, so that a folder which is created meanwhile is not among them.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import { recordJournaledCalls } from '../../metering/record-journaled-calls.ts';
import type { SandboxDeps } from '../deps.ts';
import { foldersOf, removeTree } from '../sandbox-paths.ts';

interface Orphans {
  folders: string[];
  /** True if neither an active run nor a container needs this sandbox. */
  isOrphaned(ref: SandboxRef): boolean;
}

export async function findOrphans(deps: SandboxDeps): Promise<Orphans> {
  const { dataDir, hostId } = deps;
  const found = await Promise.all([pathsIn(join(dataDir, 'r')), pathsIn(join(dataDir, 's'))]);
  const containers = (await deps.sandboxes.list()).filter((one) => one.hostId === hostId);
  const needed = [...(await deps.runs.activeOnHost(hostId)), ...containers];
  const neededKeys = new Set(needed.map(sandboxKey));
  const neededPaths = new Set(needed.flatMap((ref) => pathsOf(dataDir, ref)));
  return {
    folders: found.flat().filter((path) => !neededPaths.has(path)),
    isOrphaned: (ref) => !neededKeys.has(sandboxKey(ref)),
  };
}

/** A folder that cannot be removed is retried at the next pass. */
export async function removeFolders(
  deps: Pick<SandboxDeps, 'logger' | 'ledger' | 'modelPrices' | 'now'>,
  folders: string[],
): Promise<void> {
  for (const path of folders) {
    await recordJournaledCalls(deps, path)
      .then(() => removeTree(path))
      .catch((err: unknown) => deps.logger.warn({ err }, 'folder_removal_failed'));
  }
}

export function sandboxKey({ runId, generation }: SandboxRef): string {
  return `${runId}-${generation}`;
}

async function pathsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}

function pathsOf(dataDir: string, ref: SandboxRef): string[] {
  const { root, socket } = foldersOf(dataDir, ref);
  return [root, socket];
}
