import { fileTree } from '../../core/files/file-tree.ts';
import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

/** The working directory of a run as last seen, as JSON text; null where there is none yet. */
export interface FeedTree {
  json: () => string | null;
  /** Says that it has changed. */
  expect: () => void;
  /** A change that was announced has not been read. */
  isDue: () => boolean;
  /** Reads it where a change was announced; what Redis does not answer stays due. */
  refresh: (isOver: boolean) => Promise<void>;
}

type TreeDeps = Pick<ApiDeps, 'frameStream' | 'files'>;

export function createFeedTree(deps: TreeDeps, runId: string): FeedTree {
  let json: string | null = null;
  let isDue = true;
  return {
    json: () => json,
    expect() {
      isDue = true;
    },
    isDue: () => isDue,
    async refresh(isOver) {
      if (!isDue) return;
      isDue = false; // what is announced during the read may be too late for it
      const found = await readTree(deps, runId, isOver).catch((error: unknown) => {
        isDue = true;
        throw error;
      });
      if (found === null) isDue = true;
      else json = found.json ?? json;
    },
  };
}

/** What Redis has forgotten is in the snapshot, once there is one. */
async function readTree(
  deps: TreeDeps,
  runId: string,
  isOver: boolean,
): Promise<{ json: string | null } | null> {
  const kept = await deps.frameStream.readFileTree(runId);
  if (!isOver || typeof kept?.json === 'string') return kept;
  return { json: await treeOfSnapshot(deps, runId) };
}

async function treeOfSnapshot(deps: TreeDeps, runId: string): Promise<string | null> {
  const files = await deps.files.list(runId, { limit: limits.fileTreeMaxNodes });
  return files.length === 0 ? null : JSON.stringify(fileTree(files));
}
