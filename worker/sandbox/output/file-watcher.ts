import { watch } from 'node:fs';
import { sleep } from '../../../lib/async/sleep.ts';

/** Rings when a file changes, as far as its file system says so; the time-out is for the others. */
export interface FileWatcher {
  notify(): void;
  /** Resolves with the next ring, with one that nobody has heard yet, or when the time is up. */
  waitForChange(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function createFileWatcher(path: string): FileWatcher {
  let rung = false;
  let waiting = new AbortController();

  function ring(): void {
    rung = true;
    waiting.abort();
  }

  const close = watchFile(path, ring);
  return {
    notify: ring,
    close,
    async waitForChange(timeoutMs, signal) {
      if (!rung) {
        waiting = new AbortController();
        await sleep(timeoutMs, waiting.signal, signal);
      }
      rung = false;
    },
  };
}

/** The kernel has only so many watches; without one the time-out has to do. */
function watchFile(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
