import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { SkippedEntries, Snapshot } from '../../../../../core/files/file-entry.ts';
import { snapshotWorkspace } from '../../../../../worker/sandbox/workspace/snapshot.ts';
import { snapshotOf } from '../../../../support/snapshot-of.ts';

interface CollectedSnapshot {
  snapshot: Snapshot;
  entries: Snapshot['files'];
  /** The contents that were stored, by their hash. */
  contents: Map<string, Buffer>;
  /** The entries that the snapshot does not contain. */
  omitted: SkippedEntries;
  result: { files: number; skipped: number };
  notified: string[];
}

interface SnapshotOptions {
  maxFiles?: number;
  signal?: AbortSignal;
  /** The hashes of contents that are stored already. */
  existing?: string[];
  onLookup?: (sha256s: string[]) => void;
}

/** Takes a snapshot of `root` with stores that keep everything in memory. */
export async function collectSnapshot(
  root: string,
  { existing = [], onLookup, ...options }: SnapshotOptions = {},
): Promise<CollectedSnapshot> {
  const contents = new Map<string, Buffer>();
  let snapshot = snapshotOf([]);
  let omitted: SkippedEntries = { skippedCount: 0, skipped: [] };
  const notified: string[] = [];
  const deps = {
    blobs: {
      has: (sha256s: string[]) => {
        onLookup?.(sha256s);
        return Promise.resolve(new Set(sha256s.filter((id) => existing.includes(id))));
      },
      put: async (chunks: AsyncIterable<Buffer>, id: { sha256: string }) => {
        const content = await buffer(chunks);
        if (sha256(content) !== id.sha256) throw new Error('has other content');
        contents.set(id.sha256, content);
      },
    },
    files: {
      replaceSnapshot: async (_of: object, found: Snapshot) => {
        snapshot = found;
        return 'listed' as const;
      },
    },
    runs: {
      recordSnapshot: async (_of: object, recorded: SkippedEntries) => {
        omitted = recorded;
        return recorded.skippedCount > 0;
      },
    },
    frameStream: { notify: async (runId: string) => notified.push(runId) > 0 },
    now: () => new Date(),
  };
  const ref = { runId: 'run-1', generation: 1 };
  const result = await snapshotWorkspace(deps, { ref, root, ...options });
  return { snapshot, entries: snapshot.files, contents, omitted, result, notified };
}

export const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');
