// Moves a run's output from its spool to the log and to its readers.
//
// One loop reads what has arrived, commits it and publishes it. Output that arrives during a commit
// forms the next batch, so batches grow with the load and nothing waits for a timer. A commit is
// retried until it succeeds. Only a lost lease ends the loop before the end of the file. Publishing
// runs concurrently with the next commit, one batch behind, and may fail: readers detect the gap.

import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { AgentState } from '../../../core/agent/agent-state.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { ChatReader } from '../../../core/frames/chat-frames.ts';
import type { StoredFrame } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import type { Appended, Batch } from '../../../systems/postgres/log/append-frames.ts';
import type { ChatUpdate } from '../../../systems/postgres/log/append-turn.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { InteractionStore } from '../../../systems/postgres/runs/interaction-store.ts';
import type { FrameStream } from '../../../systems/redis/frame-stream.ts';
import type { PauseState } from '../pause-state.ts';
import { createFileWatcher, type FileWatcher } from './file-watcher.ts';
import type { SpoolFile } from './spool-file.ts';
import {
  createSpoolReader,
  type ReaderBounds,
  readWithRetry,
  type SpoolBatch,
  SpoolUnreadable,
} from './spool-reader.ts';

export type SpoolFault =
  | 'spool_truncated'
  | 'spool_replaced'
  | 'spool_too_large'
  | 'spool_unreadable';

export interface TailDeps {
  runId: string;
  generation: number;
  token: number;
  position: { byteOffset: number; lastSeq: number; agentState: AgentState };
  withDeltas: boolean;
  frames: Pick<FrameStore, 'append'>;
  /** Resolves when the ledger has every model call that has ended. */
  callsWritten(): Promise<void>;
  onBatchStored(batch: { frames: number; bytes: number; tookMs: number }): void;
  interactions: Pick<InteractionStore, 'record'>;
  frameStream: Pick<FrameStream, 'publish'>;
  onStored(stored: { frames: number; agentState: AgentState; facts: RunFacts }): void;
  spool: SpoolFile;
  pause: Pick<PauseState, 'pauseEnd'>;
  /** Reads the conversation of a session's agent. Absent for a plain run. */
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
  const findFault = createFaultCheck(deps);
  const log = createLogAppender(deps, retry);
  let finishing = false;
  let quietSince: number | null = null;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isLast = finishing;
      const pauseEnd = deps.pause.pauseEnd();
      const batch = await readWithRetry(() => reader.nextBatch(), reading);
      const check = { readOffset: reader.offset(), force: isLast };
      const fault = await readWithRetry(() => findFault(check), reading);
      if (fault !== null) return deps.onFault(fault);
      if (batch !== null) {
        quietSince = null;
        if (!(await log.store(batch))) return deps.onFenced();
      } else if (isLast) {
        return await storeLast();
      } else {
        quietSince ??= performance.now();
        await waitForOutput(fileWatcher, pauseEnd, stopping.signal);
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

/** A paused agent writes nothing, and its output before the pause has been read. */
function waitForOutput(
  { waitForChange }: FileWatcher,
  pauseEnd: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  if (pauseEnd.aborted) return waitForChange(pollMs, signal);
  return waitForChange(limits.sandbox.pausedPollMs, signal, pauseEnd);
}

/** A spool with a fault is not read any further. Checks at an interval, unless forced. */
function createFaultCheck({ spool, bounds }: TailDeps) {
  let checkedAt = 0;
  return async ({ readOffset, force }: FaultCheck): Promise<SpoolFault | null> => {
    if (!force && performance.now() - checkedAt < checkEveryMs) return null;
    const isTooLarge = (await spool.size()) >= bounds.spoolBytes;
    const fault = (await spool.tampering(readOffset)) ?? (isTooLarge ? 'spool_too_large' : null);
    checkedAt = performance.now();
    return fault;
  };
}

interface FaultCheck {
  readOffset: number;
  force: boolean;
}

interface LogAppender {
  /** False if the lease is lost. */
  store(batch: SpoolBatch): Promise<boolean>;
  /** Resolves when publishing of the stored batches has finished or failed. */
  published(): Promise<void>;
}

/** Appends batches to the log: commits each, then publishes it. */
function createLogAppender(deps: TailDeps, retry: RetryPolicy): LogAppender {
  const { runId, token, generation, position } = deps;
  let { byteOffset, lastSeq } = position;
  let publishing: Promise<unknown> = Promise.resolve();

  async function store(batch: SpoolBatch): Promise<boolean> {
    const lastSeqBefore = lastSeq;
    const frames = batch.committedTo === null ? [] : await commit(batch, batch.committedTo);
    if (frames === null) return false;
    const firstSeq = frames[0]?.seq ?? lastSeqBefore + 1;
    const deltas = deps.withDeltas ? batch.deltas({ lastSeqBefore, firstSeq }) : [];
    failpoint('log.committed');
    const before = publishing;
    publishing = before.then(() => deps.frameStream.publish(runId, { frames, deltas }));
    void publishing.then(() => failpoint('log.published'));
    // Publish first: readers wait, while the end of a turn only starts work of this process.
    if (batch.committedTo !== null) noteStored(batch);
    await before;
    return true;
  }

  function noteStored({ frames, agentState, facts }: SpoolBatch): void {
    deps.onStored({ frames: frames.length, agentState, facts });
  }

  /** Null if the lease is lost. */
  async function commit(batch: SpoolBatch, toOffset: number): Promise<StoredFrame[] | null> {
    const { agentStatus, turn, startedMessage, turnEnd } = batch.facts;
    const { interactionEvents, agentState } = batch;
    const facts = { ...(agentStatus && { agentStatus }), ...(turn && { turn }) };
    const chat = { ...(startedMessage && { startedMessage }), ...(turnEnd && { turnEnd }) };
    failpoint('log.committing');
    // Before the frames: a question that a reader has seen must be answerable.
    if (interactionEvents.length > 0)
      await retryUntilAborted(() => deps.interactions.record(runId, interactionEvents), retry);
    if (turnEnd) failpoint('turn.ending');
    const range = { runId, token, generation, fromOffset: byteOffset, toOffset };
    const stored = await retryUntilAborted(async () => {
      // Before a turn's end is stored, the ledger has all its calls, so that its cost is complete.
      if (turn || turnEnd) await deps.callsWritten();
      return append(deps, { ...range, frames: batch.frames, facts, agentState }, chat);
    }, retry);
    if (stored.outcome === 'fenced') return null;
    if (turnEnd) failpoint('turn.ended');
    byteOffset = toOffset;
    lastSeq = stored.lastSeq;
    const { firstSeq, at } = stored;
    return batch.frames.map(({ event, channel, data }, index) => {
      return { seq: firstSeq + index, at, event, channel, data };
    });
  }

  return {
    store,
    published: async () => void (await publishing),
  };
}

/** Appends a batch to the log, and reports how long that took. */
async function append(deps: TailDeps, batch: Batch, chat: ChatUpdate): Promise<Appended> {
  const from = performance.now();
  const appended = await deps.frames.append(batch, chat);
  if (appended.outcome === 'stored') {
    const bytes = batch.toOffset - batch.fromOffset;
    const tookMs = performance.now() - from;
    deps.onBatchStored({ frames: batch.frames.length, bytes, tookMs });
  }
  return appended;
}
