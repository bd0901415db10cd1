export type FileScope = 'flow' | 'run';

/** Files that match its patterns belong to the run only. The file itself belongs to the flow or the request. */
export const ignoreName = '.flowignore';

/** A stored file of a run's working directory; its content is the blob `sha256`. */
export interface FileEntry {
  /** Relative POSIX path. */
  path: string;
  size: number;
  /** Hex. */
  sha256: string;
  /** Permission bits. */
  mode: number;
  scope: FileScope;
  modifiedAt: Date;
}
