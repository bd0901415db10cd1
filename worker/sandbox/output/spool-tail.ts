// Moves a run's output from its spool to the log and to its readers.
//
// One loop reads what has arrived, commits it and publishes it. Output that arrives during a commit forms
// the next batch, so batches grow with the load and nothing waits for a timer. A commit is retried until
// it succeeds. Only a lost lease ends the loop before the end of the file. Publishing runs concurrently
// with the next commit, one batch behind, and may fail: readers detect the gap.

import type { ChatReader } from '../../../core/frames/chat-frames.ts';
import type { RetryPolicy } from '../../../lib/async/retry.ts';
import { createFileWatcher } from './file-watcher.ts';
import { createLogAppender, type LogAppenderDeps } from './log-appender.ts';
import type { SpoolFile } from './spool-file.ts';
import {
  createSpoolReader,
  type ReaderBounds,
  readWithRetry,
  SpoolUnreadable,
} from './spool-reader.ts';

export type SpoolFault =
  | 'spool_truncated'
  | 'spool_replaced'
  | 'spool_too_large'
  | 'spool_unreadable';

export interface TailDeps extends LogAppenderDeps {
  spool: SpoolFile;
  /** Of a session's agent. */
  chat?: ChatReader | null;
  bounds: ReaderBounds & { spoolBytes: number; unreadableMs: number };
  onFault(fault: SpoolFault): void;
  onFenced(): void;
  onFailure(error: unknown, attempt: number): void;
}

export interface SpoolTail {
  /** Settles when the tail has ended. Rejects only for an unexpected error. */
  done: Promise<void>;
  /** The writer has exited. Reads, stores and publishes the rest, then ends. */
  finish(): void;
  /** Ends as soon as the current commit is over. */
  stop(): void;
  /** Since when no output has arrived. Null while there is output to process. */
  quietSince(): number | null;
}

const pollMs = 250;
const checkEveryMs = 200;

export function startTail(deps: TailDeps): SpoolTail {
  const { spool, position, bounds } = deps;
  const { byteOffset: offset, agentState } = position;
  const { chat = null } = deps;
  const reader = createSpoolReader(spool, { offset, agentState, bounds, chat });
  const stopping = new AbortController();
  const retry: RetryPolicy = { signal: stopping.signal, onFailure: deps.onFailure };
  const reading = { retry, withinMs: bounds.unreadableMs };
  const fileWatcher = createFileWatcher(spool.path);
  const tamperCheck = createTamperCheck(deps);
  const log = createLogAppender(deps, retry);
  let finishing = false;
  let quietSince: number | null = null;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isLast = finishing;
      const batch = await readWithRetry(() => reader.nextBatch(), reading);
      const fault = await readWithRetry(
        () => tamperCheck.findFault(reader.offset(), isLast),
        reading,
      );
      if (fault !== null) return deps.onFault(fault);
      if (batch !== null) {
        quietSince = null;
        if (!(await log.store(batch))) return deps.onFenced();
      } else if (isLast) {
        return await storeLast();
      } else {
        quietSince ??= performance.now();
        await fileWatcher.waitForChange(pollMs, stopping.signal);
      }
    }
  }

  async function storeLast(): Promise<void> {
    const last = reader.lastBatch();
    if (last !== null && !(await log.store(last))) return deps.onFenced();
    await log.published();
  }

  const done = run()
    .catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      if (!(error instanceof SpoolUnreadable)) throw error;
      deps.onFault('spool_unreadable');
    })
    .finally(fileWatcher.close);

  return {
    done,
    finish() {
      finishing = true;
      fileWatcher.notify();
    },
    stop: () => stopping.abort(),
    quietSince: () => quietSince,
  };
}

/** A spool that was tampered with is not read any further. */
function createTamperCheck({ spool, bounds }: TailDeps) {
  let lookedAt = 0;
  return {
    async findFault(readOffset: number, now: boolean): Promise<SpoolFault | null> {
      if (!now && performance.now() - lookedAt < checkEveryMs) return null;
      const isTooLong = (await spool.size()) >= bounds.spoolBytes;
      const fault = (await spool.tampering(readOffset)) ?? (isTooLong ? 'spool_too_large' : null);
      lookedAt = performance.now();
      return fault;
    },
  };
}
