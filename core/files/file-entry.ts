export type FileScope = 'flow' | 'run';

/** What its patterns match is a run's alone; it is itself a file of the flow, or of a request. */
export const ignoreName = '.flowignore';

/** A file of a run's working directory as it was last stored; its content is the blob `sha256`. */
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
