// The way of a run's output from its spool into the log and on to its readers.
//
// One loop: read what has arrived, commit it, publish it. What arrives during a commit is the next
// batch, so batches grow with the load and nothing waits for a timer. A batch is committed again and
// again until Postgres has taken it; only a lost lease ends the loop before the end of the file.
// Publishing runs beside the next commit, one batch behind it, and may fail: readers find the gap.

import type { RunFacts } from '../../core/agent-line.ts';
import type { StoredFrame } from '../../core/frame.ts';
import type { FrameStore } from '../../systems/postgres/frame-store.ts';
import type { FrameStream } from '../../systems/redis/frame-stream.ts';
import { createFileBell } from './file-bell.ts';
import type { SpoolBatch } from './spool-batch.ts';
import type { SpoolFile } from './spool-file.ts';
import { createSpoolReader, type ReaderBounds } from './spool-reader.ts';
import { type Insistence, insist } from './wait.ts';

export type SpoolTrouble = 'shrunk' | 'replaced' | 'too_long';

export interface TailDeps {
  runId: string;
  generation: number;
  token: number;
  position: { byteOffset: number; lastSeq: number };
  spool: SpoolFile;
  bounds: ReaderBounds & { spoolBytes: number };
  withDeltas: boolean;
  frames: Pick<FrameStore, 'append'>;
  frameStream: Pick<FrameStream, 'publish'>;
  onStored(stored: { frames: number; facts: RunFacts }): void;
  onTrouble(trouble: SpoolTrouble): void;
  onFenced(): void;
  onFailure(error: unknown, attempt: number): void;
}

export interface SpoolTail {
  /** Settles when the tail has ended; rejects only for a reason that nobody foresaw. */
  done: Promise<void>;
  /** Nothing writes any more: what is left is read, stored and published, then it is done. */
  finish(): void;
  /** It is done as soon as it writes nothing more. */
  stop(): void;
  /** Since when the file has been at its end without growing; null while there is work to do. */
  quietSince(): number | null;
}

const pollMs = 250;
const checkEveryMs = 200;

export function startTail(deps: TailDeps): SpoolTail {
  const { spool, position, bounds } = deps;
  const reader = createSpoolReader(spool, { offset: position.byteOffset, bounds });
  const stopping = new AbortController();
  const patience: Insistence = { signal: stopping.signal, onFailure: deps.onFailure };
  const bell = createFileBell(spool.path);
  const log = createLogEnd(deps, patience);
  let finishing = false;
  let quietSince: number | null = null;
  let checkedAt = 0;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isLast = finishing;
      const batch = await insist(() => reader.nextBatch(), patience);
      if (await findTrouble(isLast)) return;
      if (batch !== null) {
        quietSince = null;
        if (!(await log.store(batch))) return deps.onFenced();
      } else if (isLast) {
        return await storeLast();
      } else {
        quietSince ??= performance.now();
        await bell.rings(pollMs, stopping.signal);
      }
    }
  }

  async function storeLast(): Promise<void> {
    const last = reader.lastBatch();
    if (last !== null && !(await log.store(last))) return deps.onFenced();
    await log.published();
  }

  /** What is in a spool that was tampered with is no output: reading ends there. */
  async function findTrouble(isLast: boolean): Promise<boolean> {
    if (!isLast && performance.now() - checkedAt < checkEveryMs) return false;
    checkedAt = performance.now();
    const isTooLong = (await spool.size()) >= bounds.spoolBytes;
    const trouble = (await spool.tampering(reader.offset())) ?? (isTooLong ? 'too_long' : null);
    if (trouble !== null) deps.onTrouble(trouble);
    return trouble !== null;
  }

  const done = run()
    .catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    })
    .finally(bell.close);

  return {
    done,
    finish() {
      finishing = true;
      bell.ring();
    },
    stop: () => stopping.abort(),
    quietSince: () => quietSince,
  };
}

/** Where the log has got to, and the way there: commit, then publish. */
function createLogEnd(deps: TailDeps, patience: Insistence) {
  const { runId, token, generation, position } = deps;
  let { byteOffset, lastSeq } = position;
  let publishing: Promise<unknown> = Promise.resolve();

  /** False: the lease is lost. */
  async function store(batch: SpoolBatch): Promise<boolean> {
    const lastSeqBefore = lastSeq;
    const frames = batch.keptTo === null ? [] : await commit(batch, batch.keptTo);
    if (frames === null) return false;
    const firstSeq = frames[0]?.seq ?? lastSeqBefore + 1;
    const deltas = deps.withDeltas ? batch.deltas({ lastSeqBefore, firstSeq }) : [];
    await publishing;
    publishing = deps.frameStream.publish(runId, { frames, deltas });
    return true;
  }

  async function commit(batch: SpoolBatch, toOffset: number): Promise<StoredFrame[] | null> {
    const { agentStatus, turn } = batch.facts;
    const facts = { ...(agentStatus && { agentStatus }), ...(turn && { turn }) };
    const place = { runId, token, generation, fromOffset: byteOffset, toOffset };
    const stored = await insist(
      () => deps.frames.append({ ...place, frames: batch.frames, facts }),
      patience,
    );
    if (stored.outcome === 'fenced') return null;
    byteOffset = toOffset;
    lastSeq = stored.lastSeq;
    deps.onStored({ frames: batch.frames.length, facts: batch.facts });
    const { firstSeq, at } = stored;
    return batch.frames.map((frame, index) => ({ ...frame, seq: firstSeq + index, at }));
  }

  return {
    store,
    published: async () => void (await publishing),
  };
}
