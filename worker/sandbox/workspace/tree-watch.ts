import { fileTree } from '../../../core/files/file-tree.ts';
import { limits } from '../../../core/limits.ts';
import { createNotifier } from '../../../lib/async/notifier.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { walkWorkspace } from './walk.ts';

export interface FileTreeWatch {
  /** Something may have changed: the tree is looked at when it is due. */
  notify(): void;
  /** Looks a last time, at once. */
  finish(): Promise<void>;
  stop(): void;
}

const budgetMs = 2_000;
const idlePollMs = 10_000;
/** Looking takes a twentieth of the time at most. */
const restPerScan = 19;

/**
 * Publishes the tree of a working directory when it differs from the last one. Tools speak when they
 * are done, so output says when to look; a slow look of its own is for those that work in silence.
 */
export function watchFileTree(
  root: string,
  publish: (json: string) => Promise<unknown>,
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
      const began = performance.now();
      await publishChange();
      const tookMs = performance.now() - began;
      await sleep(Math.max(limits.fileTreeEveryMs, restPerScan * tookMs), stopping.signal);
      await notifier.waitAtMost(idlePollMs, stopping.signal);
    }
  }

  // A tree that cannot be read is not shown; the run goes on.
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

/** JSON of the nodes; null where the working directory is gone or took too long. */
async function readTree(root: string): Promise<string | null> {
  const files: { path: string }[] = [];
  const signal = AbortSignal.timeout(budgetMs);
  const found = walkWorkspace(root, {
    maxDepth: limits.fileTreeMaxDepth,
    heavy: 'never',
    maxEntries: 4 * limits.fileTreeMaxNodes,
    signal,
  });
  try {
    for await (const entry of found) if (entry.kind === 'file') files.push(entry);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return JSON.stringify(fileTree(files));
}
