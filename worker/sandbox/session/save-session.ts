import { join } from 'node:path';
import type { SandboxLease } from '../../../systems/postgres/log/lease.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import { snapshotWorkspace } from '../workspace/snapshot.ts';

export type SaveDeps = Pick<SandboxDeps, 'blobs' | 'files' | 'runs' | 'turns' | 'now'>;

/** Where an agent keeps its conversations, below its own folder. */
export const transcriptsOf = ({ config }: Pick<SandboxFolders, 'config'>): string =>
  join(config, 'projects');

/**
 * Stores what the next sandbox of a session begins with, on whatever host: the working directory and
 * the agent's own conversation. A second call stores the same again, under the same names; a call for
 * a sandbox that another has followed, or that another looks after by now, stores nothing.
 */
export async function saveSession(
  deps: SaveDeps,
  ref: SandboxLease,
  folders: Pick<SandboxFolders, 'workspace' | 'config'>,
): Promise<void> {
  const begun = await deps.turns.clock();
  await snapshotWorkspace(deps, { ref, root: folders.workspace });
  const transcripts = {
    ...deps,
    files: { replaceSnapshot: deps.turns.replaceTranscript },
    runs: { recordSnapshot: async () => undefined },
  };
  await snapshotWorkspace(transcripts, { ref, root: transcriptsOf(folders) });
  await deps.turns.markSnapshot(ref, begun);
}

export interface SaveQueue {
  /** Soon, beside whatever else goes on; what cannot be stored is stored at the end. */
  saveSoon(): void;
  /** Now, after what is under way. */
  save(): Promise<void>;
}

/** One at a time, so that the last one to look is the last one to store. */
export function createSaveQueue(
  save: () => Promise<void>,
  onFailure: (error: unknown) => void,
): SaveQueue {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function queue(): Promise<void> {
    waiting += 1;
    const mine = last.then(() => {
      waiting -= 1;
      return save();
    });
    last = mine.catch(() => undefined);
    return mine;
  }

  return {
    saveSoon() {
      if (waiting === 0) void queue().catch(onFailure);
    },
    save: queue,
  };
}
