// Folders of sandboxes whose runs have ended, and which were not removed then. Folders are listed
// before runs and containers, so that a folder which is created meanwhile is not among them.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import { recordJournaledCalls } from '../../metering/record-journaled-calls.ts';
import type { SandboxDeps } from '../deps.ts';
import { sandboxKey } from '../sandbox-key.ts';
import { foldersOf, removeTree } from '../sandbox-paths.ts';

interface Orphans {
  folders: string[];
  /**
   * Sandboxes of ended runs whose files are not stored. Their folders are needed, and nothing
   * writes to them any more.
   */
  unstored: SandboxRef[];
  /** True if neither an active run nor a container needs this sandbox. */
  isOrphaned(ref: SandboxRef): boolean;
}

export async function findOrphans(deps: SandboxDeps): Promise<Orphans> {
  const { dataDir, hostId } = deps;
  const found = await Promise.all([pathsIn(join(dataDir, 'r')), pathsIn(join(dataDir, 's'))]);
  const containers = (await deps.sandboxes.list()).filter((one) => one.hostId === hostId);
  const needed = await deps.runs.neededOnHost(hostId);
  const inUse = [...needed.filter(({ hasUnstoredFiles }) => !hasUnstoredFiles), ...containers];
  const keysInUse = new Set(inUse.map(sandboxKey));
  const isOrphaned = (ref: SandboxRef): boolean => !keysInUse.has(sandboxKey(ref));
  const unstored = needed.filter(isOrphaned);
  const folders = found.flat();
  const rootOf = (ref: SandboxRef): string => foldersOf(dataDir, ref).root;
  const pathsInUse = inUse.flatMap((ref) => [rootOf(ref), foldersOf(dataDir, ref).socket]);
  const neededPaths = new Set([...pathsInUse, ...unstored.map(rootOf)]);
  return {
    folders: folders.filter((path) => !neededPaths.has(path)),
    unstored: unstored.filter((ref) => folders.includes(rootOf(ref))),
    isOrphaned,
  };
}

/** A folder that cannot be removed is retried at the next pass. */
export async function removeFolders(
  deps: Pick<SandboxDeps, 'logger' | 'projectQuotas' | 'ledger' | 'modelPrices' | 'now'>,
  folders: string[],
): Promise<void> {
  for (const path of folders) {
    await recordJournaledCalls(deps, path)
      .then(() => deps.projectQuotas.release(path))
      .then(() => removeTree(path))
      .catch((err: unknown) => deps.logger.warn({ err }, 'folder_removal_failed'));
  }
}

async function pathsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}
