import type { FileEntry } from './file-entry.ts';

/** A version of a file, without its name. */
export type FileVersion = Pick<FileEntry, 'size' | 'sha256' | 'mode'>;

/** The difference between a file of a run and the original file. */
export interface FileChange {
  path: string;
  /** Null if the file was added. */
  before: FileVersion | null;
  /** Null if the file was deleted. */
  after: FileVersion | null;
}

export const changeStatus = ({ before, after }: FileChange): 'added' | 'modified' | 'deleted' =>
  before === null ? 'added' : after === null ? 'deleted' : 'modified';

/** The only permission that is compared, as in git. */
export const isExecutable = ({ mode }: Pick<FileEntry, 'mode'>): boolean => (mode & 0o100) !== 0;
