import type { FileEntry } from '../files/file-entry.ts';

/** A stored blob and its path in a working directory. */
export type InputFile = Pick<FileEntry, 'path' | 'sha256' | 'size' | 'mode'>;

/** A file that was just stored, with its date as JSON text. */
type StoredFile = InputFile & { modifiedAt: string };

/** Requests of the API to the host of a run, and their results. All JSON. */
export interface HostCalls {
  /** Stores the current content of one file. */
  store_file: {
    payload: { path: string };
    result:
      | { outcome: 'stored'; file: StoredFile }
      /** There is no such regular file. */
      | { outcome: 'missing' }
      | { outcome: 'too_large'; size: number; limit: number }
      /** The storage quota of the project is used up, and the content is not stored yet. */
      | { outcome: 'over_quota'; limit: number; current: number }
      /** The host does not have this sandbox, or it has ended. */
      | { outcome: 'gone' };
  };
  /** Stores the whole working directory and its file list, unless the storage quota is used up. */
  store_files: {
    payload: Record<string, never>;
    result: { outcome: 'stored' | 'over_quota' | 'gone' };
  };
  /**
   * Writes files into a working directory: all of them, or none if a conflict is found in advance.
   */
  write_files: {
    payload: { files: InputFile[] };
    result:
      | { outcome: 'written' }
      | { outcome: 'rejected'; path: string; reason: string }
      | { outcome: 'gone' };
  };
  /** Delivers all stored answers to the agent. */
  answer_interaction: {
    payload: Record<string, never>;
    result: { outcome: 'delivered' | 'gone' };
  };
}

interface PlacedSandbox {
  runId: string;
  generation: number;
}

export type HostCallKind = keyof HostCalls;
export type HostCallPayload<K extends HostCallKind> = HostCalls[K]['payload'];
export type HostCallResult<K extends HostCallKind> = HostCalls[K]['result'];

/** Notified of a request to the host. */
export const hostChannel = (hostId: string): string => `host:${hostId}`;
/** Notified of a message to the session, before its workflow notifies the host. */
export const sessionChannel = (runId: string): string => `session:${runId}`;
/** Notified of a sandbox that was placed on the host, before its workflow starts it. */
export const startChannel = (hostId: string): string => `start:${hostId}`;
/** The subject of such a notification. */
export const startSubject = ({ runId, generation }: PlacedSandbox): string =>
  `${runId}/${generation}`;
/** Null if it is not such a subject. */
export function parseStartSubject(subject: string): PlacedSandbox | null {
  const [, runId, generation] = /^([0-9a-f-]{36})\/([1-9]\d{0,8})$/.exec(subject) ?? [];
  if (runId === undefined || generation === undefined) return null;
  return { runId, generation: Number(generation) };
}
/** Notified of the response to a request. */
export const responseChannel = (requestId: string): string => `response:${requestId}`;
