import { fileTreeJson } from '../../../core/files/file-tree.ts';
import { limits } from '../../../core/limits.ts';
import { createNotifier } from '../../../lib/async/notifier.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { PauseState } from '../pause-state.ts';
import { walkWorkspace } from './walk.ts';

export interface FileTreeWatch {
  /** The tree may have changed: the next scan does not wait for the poll. */
  notify(): void;
  /** Scans a last time, at once. */
  finish(): Promise<void>;
  stop(): void;
}

const budgetMs = 2_000;
const idlePollMs = 10_000;
/** Scanning takes a twentieth of the time at most. */
const restPerScan = 19;

/**
 * Publishes the tree of a working directory when it has changed. Tools write output when they are
 * done, so output triggers a scan. A slow poll finds changes without output. While the sandbox is
 * paused, nothing is scanned after the first scan.
 */
export function watchFileTree(
  root: string,
  { pause, publish }: { pause: PauseState; publish(json: string): Promise<unknown> },
): FileTreeWatch {
  const stopping = new AbortController();
  const notifier = createNotifier();
  let published = '';

  async function publishChange(): Promise<void> {
    const json = await readTree(root);
    if (json === null || json === published) return;
    published = json;
    await publish(json);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pauseEnd = pause.pauseEnd();
      const began = performance.now();
      await publishChange();
      const tookMs = performance.now() - began;
      await sleep(Math.max(limits.fileTree.everyMs, restPerScan * tookMs), stopping.signal);
      // Bounded, in case the sandbox runs although its pause was recorded last.
      if (!pauseEnd.aborted) await sleep(limits.sandbox.pausedPollMs, pauseEnd, stopping.signal);
      await notifier.waitAtMost(idlePollMs, stopping.signal);
    }
  }

  // A tree that cannot be read is not published. The run continues.
  const done = run().catch(() => undefined);
  return {
    notify: notifier.notify,
    async finish() {
      stopping.abort();
      await done;
      await publishChange().catch(() => undefined);
    },
    stop: () => stopping.abort(),
  };
}

/** The tree as JSON, as far as it could be read in time. */
async function readTree(root: string): Promise<string | null> {
  const files: { path: string }[] = [];
  const signal = AbortSignal.timeout(budgetMs);
  const found = walkWorkspace(root, {
    maxDepth: limits.fileTree.maxDepth,
    heavy: 'never',
    maxEntries: 4 * limits.fileTree.maxNodes,
    signal,
  });
  try {
    for await (const entry of found) if (entry.kind === 'file') files.push(entry);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return fileTreeJson(files);
}
