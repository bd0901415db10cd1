/** A file of an agent's conversation as it is stored: in segments, because it mostly grows. */
export interface StoredTranscript {
  path: string;
  size: number;
  /** The hash of the whole content, in hex. */
  sha256: string;
  /**
   * Where the next segment starts: at the end, or after many small segments at the first of these.
   */
  appendAt: number;
}

/** A file of an agent's conversation as a save found it. */
export interface TranscriptFile {
  path: string;
  size: number;
  /** The hash of the whole content, in hex. */
  sha256: string;
  /** Permission bits. */
  mode: number;
  modifiedAt: Date;
  /** The stored version whose first segments remain, up to `rest`; null: none remains. */
  base: StoredTranscript | null;
  /** The content after those segments, stored as one blob. */
  rest: { sha256: string; size: number };
}

export interface Transcript {
  files: TranscriptFile[];
  /** Files that changed while they were stored. Their previous versions remain. */
  changed: string[];
}

/** A file of the conversation with which a sandbox starts. */
export interface RestorableTranscript {
  path: string;
  /** The hash of the whole content, in hex. */
  sha256: string;
  mode: number;
  modifiedAt: Date;
  /** The segments in the order of the content. */
  segments: { sha256: string; size: number }[];
}
