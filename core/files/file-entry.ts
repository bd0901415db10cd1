export type FileScope = 'flow' | 'run';

/**
 * Files that match its patterns belong to the run only. The file itself belongs to the flow or the
 * request.
 */
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
  /** Within a snapshot, the names of one file (hard links) have the same number. */
  linkGroup?: number | null;
}

/**
 * A symbolic link. The target is any text: it may not exist, or be outside the working directory.
 */
export interface LinkEntry {
  path: string;
  target: string;
  modifiedAt: Date;
}

export interface FolderEntry {
  path: string;
  /** Permission bits. */
  mode: number;
  modifiedAt: Date;
}

/** The content of a working directory. */
export interface WorkspaceTree {
  files: FileEntry[];
  links: LinkEntry[];
  folders: FolderEntry[];
}

/** A working directory as it is stored. */
export interface Snapshot extends WorkspaceTree {
  /** Files that changed while they were stored. Their previous versions remain. */
  changed: string[];
}

/** The entries that a snapshot omitted. */
export interface SkippedEntries {
  skippedCount: number;
  /** The first of them. */
  skipped: { path: string; reason: string }[];
}
