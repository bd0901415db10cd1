export type FileScope = 'flow' | 'run';

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
