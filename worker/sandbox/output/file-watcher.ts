import { watch } from 'node:fs';
import { createNotifier } from '../../../lib/async/notifier.ts';

/**
 * Waits for a file to change. Not every file system reports changes, so every wait has a timeout.
 */
export interface FileWatcher {
  notify(): void;
  /** Also returns at once if the file changed since the last wait. */
  waitForChange(timeoutMs: number, ...signals: AbortSignal[]): Promise<void>;
  close(): void;
}

export function createFileWatcher(path: string): FileWatcher {
  const { notify, waitAtMost } = createNotifier();
  return { notify, waitForChange: waitAtMost, close: watchFile(path, notify) };
}

/** Does nothing if the kernel's limit of watches is reached: the timeout remains. */
function watchFile(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
