import type { FileEntry } from '../files/file-entry.ts';

/** Content that is stored already, and the place it is to have in a working directory. */
export type InputFile = Pick<FileEntry, 'path' | 'sha256' | 'size' | 'mode'>;

/** A file as it was stored just now; its date as JSON has it. */
export type LiveFile = InputFile & { modifiedAt: string };

/** What an API process may ask of the host that holds a run, and what it hears. All of it is JSON. */
export interface HostCalls {
  /** Stores one file of a working directory as it is now. */
  store_file: {
    payload: { path: string };
    result:
      | { outcome: 'stored'; file: LiveFile }
      /** There is no such file, or something else that is none. */
      | { outcome: 'missing' }
      | { outcome: 'too_large'; size: number; limit: number }
      /** The host has no such sandbox, or it has ended. */
      | { outcome: 'gone' };
  };
  /** Stores the whole working directory as it is now, and its list. */
  store_files: { payload: Record<string, never>; result: { outcome: 'stored' | 'gone' } };
  /** Writes files into a working directory, all or none as far as that can be known before. */
  write_files: {
    payload: { files: InputFile[] };
    result:
      | { outcome: 'written' }
      | { outcome: 'refused'; path: string; reason: string }
      | { outcome: 'gone' };
  };
  /** Hands the agent every answer that is there for it. */
  answer_interaction: {
    payload: Record<string, never>;
    result: { outcome: 'delivered' | 'gone' };
  };
}

export type HostCallKind = keyof HostCalls;
export type HostCallPayload<K extends HostCallKind> = HostCalls[K]['payload'];
export type HostCallResult<K extends HostCallKind> = HostCalls[K]['result'];

/** Rings when a host has been asked something. */
export const hostChannel = (hostId: string): string => `host:${hostId}`;
/** Rings when a session has been sent a message: its workflow tells its host, and that a little later. */
export const sessionChannel = (runId: string): string => `session:${runId}`;
/** Rings when a question has been answered. */
export const responseChannel = (requestId: string): string => `answer:${requestId}`;
