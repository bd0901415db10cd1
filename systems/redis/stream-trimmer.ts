import { limits } from '../../core/limits.ts';

/**
 * Bounds the bytes of a run's stream, which Redis cannot do. A run has one publisher, which counts
 * the bytes that it writes. A new publisher has not counted the earlier entries, and drops them.
 */
interface StreamTrimmer {
  /** Counts an entry. */
  add: (runId: string, entry: { id: string; bytes: number }) => void;
  /** The lowest id to keep, or null while everything fits. */
  trim: (runId: string) => string | null;
  /** The entries in the stream no longer count. The next trim drops them. */
  forget: (runId: string) => void;
}

interface Window {
  entries: { id: string; bytes: number }[];
  bytes: number;
  /** The stream may have entries from before this window. */
  isNew: boolean;
}

export function createStreamTrimmer(): StreamTrimmer {
  const windows = new Map<string, Window>();
  return {
    add(runId, entry) {
      const window = windows.get(runId) ?? { entries: [], bytes: 0, isNew: true };
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
    window.bytes > limits.replay.bufferBytes || window.entries.length > limits.replay.bufferFrames;
  const { isNew } = window;
  window.isNew = false;
  if (!isFull) return isNew ? (window.entries[0]?.id ?? null) : null;
  const keepBytes = limits.replay.bufferBytes * 0.75;
  const keepEntries = limits.replay.bufferFrames * 0.75;
  let dropped = 0;
  for (const entry of window.entries) {
    if (window.bytes <= keepBytes && window.entries.length - dropped <= keepEntries) break;
    window.bytes -= entry.bytes;
    dropped += 1;
  }
  window.entries = window.entries.slice(dropped);
  return window.entries[0]?.id ?? null;
}
