import type { FileEntry, Snapshot } from '../../core/files/file-entry.ts';
import type { Transcript } from '../../core/sessions/transcript.ts';

/** A snapshot of these files and, by default, nothing else. */
export const snapshotOf = (files: FileEntry[], more: Partial<Snapshot> = {}): Snapshot => ({
  ...{ files, links: [], folders: [], changed: [] },
  ...more,
});

/** A transcript of these files, each stored as a whole. */
export const transcriptOf = (files: FileEntry[], changed: string[] = []): Transcript => ({
  files: files.map(({ path, size, sha256, mode, modifiedAt }) => ({
    ...{ path, size, sha256, mode, modifiedAt },
    base: null,
    rest: { sha256, size },
  })),
  changed,
});
