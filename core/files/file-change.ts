import type { FileEntry } from './file-entry.ts';

/** A version of a file, without its name. */
export type FileVersion = Pick<FileEntry, 'size' | 'sha256' | 'mode'>;

/** How a file of a run differs from the file that the run was given. */
export interface FileChange {
  path: string;
  /** Null if the run was not given the file. */
  before: FileVersion | null;
  /** Null if the file was deleted. */
  after: FileVersion | null;
}

/** Of the permissions, only this one makes a difference, as in git. */
export const isExecutable = ({ mode }: Pick<FileEntry, 'mode'>): boolean => (mode & 0o100) !== 0;
