// Which contents of a sandbox's files are stored already, so that an unchanged file is neither read
// nor looked up again. A file counts as unchanged if its inode, size, modification time and change
// time are the same; an agent cannot set the last one. Writes through a mapping may not update the
// times, so the save at the sandbox's end reads every file.

import type { FileHandle } from 'node:fs/promises';
import type { FileEntry } from '../../../core/files/file-entry.ts';

/**
 * A file that was changed this shortly before it was read is read again, because a later change may
 * have the same time.
 */
const settledMs = 2_000;

/** One at a time per working directory. */
export interface HashCache {
  begin(): HashPass;
}

/** A snapshot in progress. Without a commit, the next one reads all files. */
export interface HashPass {
  /**
   * Finds the hash of the file's content if the previous snapshot has stored it. Null if that is
   * not known.
   */
  find(file: FileHandle): Promise<KnownHash>;
  /** The contents that the previous snapshot has stored. */
  isStored(sha256: string): boolean;
  /** The entries of the snapshot are stored, and remain until the next one. */
  commit(entries: FileEntry[]): void;
}

interface KnownHash {
  sha256: string | null;
  /** Remembers what was read instead. */
  note(sha256: string): void;
}

export function createHashCache(now: () => number = Date.now): HashCache {
  let stored = new Map<string, string>();
  return {
    begin() {
      const before = stored;
      stored = new Map();
      return createPass(before, now, (next) => {
        stored = next;
      });
    },
  };
}

function createPass(
  before: Map<string, string>,
  now: () => number,
  onCommit: (next: Map<string, string>) => void,
): HashPass {
  const found = new Map<string, string>();
  const reused = new Set<string>();
  return {
    async find(file) {
      const { key, changedMs } = await identify(file);
      const isSettled = changedMs < now() - settledMs;
      const sha256 = before.get(key) ?? null;
      if (sha256 !== null) {
        found.set(key, sha256);
        reused.add(sha256);
      }
      return {
        sha256,
        note: (read) => {
          if (isSettled) found.set(key, read);
        },
      };
    },
    isStored: (sha256) => reused.has(sha256),
    commit(entries) {
      const listed = new Set(entries.map(({ sha256 }) => sha256));
      onCommit(new Map([...found].filter(([, sha256]) => listed.has(sha256))));
    },
  };
}

/** Read as bigints, because a double may lose digits. */
async function identify(file: FileHandle): Promise<{ key: string; changedMs: number }> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
  return {
    key: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
    changedMs: Number(ctimeNs / 1_000_000n),
  };
}
