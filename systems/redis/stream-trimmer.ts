import { limits } from '../../core/limits.ts';

/**
 * Keeps a run's stream below its bound in bytes, which Redis cannot count by itself. A run has one
 * publisher, so what that one has written is nearly all there is; after a restart of the publisher
 * the stream may be twice the bound until the earlier half is trimmed with the rest.
 */
export interface StreamTrimmer {
  /** Counts an entry; names the lowest id to keep when the run is over its bound. */
  add: (runId: string, entry: { id: string; bytes: number }) => void;
  /** The lowest id to keep, or null while everything fits. */
  trim: (runId: string) => string | null;
  forget: (runId: string) => void;
}

interface Window {
  entries: { id: string; bytes: number }[];
  bytes: number;
}

export function createStreamTrimmer(): StreamTrimmer {
  const windows = new Map<string, Window>();
  return {
    add(runId, entry) {
      const window = windows.get(runId) ?? { entries: [], bytes: 0 };
      windows.set(runId, window);
      window.entries.push({ id: entry.id, bytes: entry.bytes });
      window.bytes += entry.bytes;
    },
    trim(runId) {
      const window = windows.get(runId);
      return window === undefined ? null : trimWindow(window);
    },
    forget: (runId) => void windows.delete(runId),
  };
}

/** Drops a quarter at a time, so that a long run does not trim with every publish. */
function trimWindow(window: Window): string | null {
  const isFull =
    window.bytes > limits.replayBufferBytes || window.entries.length > limits.replayBufferFrames;
  if (!isFull) return null;
  const keepBytes = limits.replayBufferBytes * 0.75;
  const keepEntries = limits.replayBufferFrames * 0.75;
  let dropped = 0;
  for (const entry of window.entries) {
    if (window.bytes <= keepBytes && window.entries.length - dropped <= keepEntries) break;
    window.bytes -= entry.bytes;
    dropped += 1;
  }
  window.entries = window.entries.slice(dropped);
  return window.entries[0]?.id ?? null;
}
