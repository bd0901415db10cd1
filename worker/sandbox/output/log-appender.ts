import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { AgentState } from '../../../core/agent/agent-state.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { StoredFrame } from '../../../core/frames/frame.ts';
import { type RetryPolicy, retryUntilAborted } from '../../../lib/async/retry.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { InteractionStore } from '../../../systems/postgres/runs/interaction-store.ts';
import type { FrameStream } from '../../../systems/redis/frame-stream.ts';
import type { SpoolBatch } from './spool-batch.ts';

export interface LogAppenderDeps {
  runId: string;
  generation: number;
  token: number;
  position: { byteOffset: number; lastSeq: number; agentState: AgentState };
  withDeltas: boolean;
  frames: Pick<FrameStore, 'append'>;
  interactions: Pick<InteractionStore, 'record'>;
  frameStream: Pick<FrameStream, 'publish'>;
  onStored(stored: { frames: number; agentState: AgentState; facts: RunFacts }): void;
}

interface LogAppender {
  /** False if the lease is lost. */
  store(batch: SpoolBatch): Promise<boolean>;
  /** Resolves when publishing of the stored batches has finished or failed. */
  published(): Promise<void>;
}

/** Appends batches to the log: commits each, then publishes it. */
export function createLogAppender(deps: LogAppenderDeps, retry: RetryPolicy): LogAppender {
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
    const stored = await retryUntilAborted(
      () => deps.frames.append({ ...range, frames: batch.frames, facts, agentState }, chat),
      retry,
    );
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
