/** A file of an agent's conversation as it is stored: in segments, because it mostly grows. */
export interface StoredTranscript {
  path: string;
  size: number;
  /** Of the whole content; hex. */
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
  /** Of the whole content; hex. */
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

/** What a sandbox starts with. */
export interface RestorableTranscript {
  path: string;
  /** Of the whole content; hex. */
  sha256: string;
  mode: number;
  modifiedAt: Date;
  /** In order. */
  segments: { sha256: string; size: number }[];
}
