import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import { sandboxKey } from '../sandbox-key.ts';
import type { SandboxFiles } from './sandbox-files.ts';

export interface UnstoredFiles {
  /**
   * Begins to store the files of one of these sandboxes, unless that is in progress or none is due.
   * Never throws.
   */
  storeNext(sandboxes: SandboxRef[]): void;
  /** Resolves when nothing is in progress. */
  close(): Promise<void>;
}

interface Retry {
  dueAt: number;
  delayMs: number;
}

const maxDelayMs = 600_000;
const untried: Retry = { dueAt: 0, delayMs: 10_000 };

/**
 * Stores the files of ended runs whose final snapshot failed: of one run at a time, in the
 * background, and less and less often.
 */
export function createUnstoredFiles(
  { logger, runLogContext }: Pick<SandboxDeps, 'logger' | 'runLogContext'>,
  snapshot: SandboxFiles['snapshot'],
): UnstoredFiles {
  let retries = new Map<string, Retry>();
  let current: Promise<void> | null = null;
  const retryOf = (ref: SandboxRef): Retry => retries.get(sandboxKey(ref)) ?? untried;

  async function store(ref: SandboxRef): Promise<void> {
    const about = await runLogContext(ref.runId);
    try {
      await snapshot(ref);
      logger.info(about, 'unstored_files_stored');
    } catch (err) {
      logger.warn({ err, ...about }, 'unstored_files_failed');
    }
  }

  return {
    storeNext(sandboxes) {
      retries = new Map(sandboxes.map((ref) => [sandboxKey(ref), retryOf(ref)]));
      if (current !== null) return;
      const [next] = sandboxes.toSorted((a, b) => retryOf(a).dueAt - retryOf(b).dueAt);
      const now = performance.now();
      if (next === undefined || retryOf(next).dueAt > now) return;
      const { delayMs } = retryOf(next);
      const later = { dueAt: now + delayMs, delayMs: Math.min(maxDelayMs, 2 * delayMs) };
      retries.set(sandboxKey(next), later);
      current = store(next).finally(() => {
        current = null;
      });
    },
    async close() {
      await current;
    },
  };
}
