import { join } from 'node:path';
import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxLease } from '../../../systems/postgres/log/lease.ts';
import type { SandboxDeps } from '../deps.ts';
import type { SandboxFolders } from '../sandbox-paths.ts';
import type { HashCache } from '../workspace/hash-cache.ts';
import { ownedBlobs } from '../workspace/owned-blobs.ts';
import { recordOf, recordSnapshot, storeContents } from '../workspace/snapshot.ts';
import { storeTranscript } from './store-transcript.ts';

type SavedFolders = Pick<SandboxFolders, 'workspace' | 'config'>;
type SaveDeps = Pick<SandboxDeps, 'blobs' | 'runs' | 'turns' | 'frameStream' | 'now'>;

/** The agent's folder for its conversations. */
export const transcriptsOf = ({ config }: Pick<SandboxFolders, 'config'>): string =>
  join(config, 'projects');

interface SaveOptions {
  folders: SavedFolders;
  /** Without it, every file is read. */
  hashes: HashCache | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Stores what the session's next sandbox starts with: the working directory and the agent's
 * transcript. A second call stores the same again. Without the lease, or if a later sandbox exists,
 * nothing is stored.
 */
export async function saveSession(
  { blobs, turns, ...deps }: SaveDeps,
  ref: SandboxLease,
  { folders, hashes, signal }: SaveOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const base = await turns.beginSave(ref.runId);
  const files = ownedBlobs(blobs, ref.runId, 'files');
  const workspace = await storeContents(files, folders.workspace, { hashes, signal });
  if (workspace === null) return; // removed
  const transcripts = { root: transcriptsOf(folders), stored: base.transcript, signal };
  const transcriptBlobs = ownedBlobs(blobs, ref.runId, 'transcripts');
  const transcript = await storeTranscript(transcriptBlobs, transcripts);
  failpoint('workspace.stored');
  const { snapshot } = workspace;
  const record = recordOf(deps, workspace);
  const outcome = await turns.saveState(ref, {
    at: base.at,
    workspace: snapshot,
    record,
    transcript,
  });
  if (outcome === null) return;
  workspace.onListed();
  failpoint('workspace.listed');
  if (outcome === 'listed') await recordSnapshot(deps, ref, record);
}

export interface SaveQueue {
  /** Saves in the background. A failed save is made up for at the sandbox's end. */
  scheduleSave(): void;
  /** Saves after any save in progress. Rejects at the signal. */
  save(signal?: AbortSignal): Promise<void>;
}

/**
 * Saves one at a time, so that the last one to read is the last one to store. A scheduled save is
 * not left to one that a signal may stop.
 */
export function createSaveQueue(
  save: (signal?: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): SaveQueue {
  let last: Promise<unknown> = Promise.resolve();
  let certain = 0;

  function queue(signal?: AbortSignal): Promise<void> {
    const weight = signal === undefined ? 1 : 0;
    certain += weight;
    const queued = last.then(() => {
      certain -= weight;
      return save(signal);
    });
    last = queued.catch(() => undefined);
    return queued;
  }

  return {
    scheduleSave() {
      if (certain === 0) void queue().catch(onFailure);
    },
    save: queue,
  };
}
