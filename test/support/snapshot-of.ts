import type { FileEntry, Snapshot } from '../../core/files/file-entry.ts';

/** A snapshot of these files and, by default, nothing else. */
export const snapshotOf = (files: FileEntry[], more: Partial<Snapshot> = {}): Snapshot => ({
  ...{ files, links: [], folders: [], changed: [] },
  ...more,
});
