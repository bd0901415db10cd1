import type { Pool } from '../client/pool.ts';
import { appendFrames, appendOwnFrames, type Batch, type OwnFrames } from './append-frames.ts';
import { appendTurnFrames, type ChatUpdate } from './append-turn.ts';
import { beginGeneration, type LogLease, renewLease, renewLeases, takeLease } from './lease.ts';
import { type FrameQuery, readFrames } from './read-frames.ts';
import { renderedTail, type TailQuery } from './rendered-tail.ts';
import { readProgressOfRuns, readRunProgress } from './run-progress.ts';

export type FrameStore = ReturnType<typeof createFrameStore>;

/**
 * The log of a run: its frames, how far its spool was read, and who may write. With a
 * separate pool, leases never wait for other work.
 */
export function createFrameStore(pool: Pool, leasePool: Pool = pool) {
  return {
    /** Null if another owner holds it or the run has ended. */
    takeLease: (runId: string, owner: string, leaseMs: number) =>
      takeLease(leasePool, { runId, owner, leaseMs }),
    renewLease: (runId: string, token: number, leaseMs: number) =>
      renewLease(leasePool, { runId, token, leaseMs }),
    renewLeases: (leases: readonly LogLease[], leaseMs: number) =>
      renewLeases(leasePool, { leases, leaseMs }),
    beginGeneration: (runId: string, token: number, generation: number) =>
      beginGeneration(pool, { runId, token, generation }),
    append: (batch: Batch, chat: ChatUpdate = {}) =>
      Object.keys(chat).length === 0
        ? appendFrames(pool, batch)
        : appendTurnFrames(pool, batch, chat),
    appendOwn: (own: OwnFrames) => appendOwnFrames(pool, own),
    read: (runId: string, query: FrameQuery) => readFrames(pool, runId, query),
    renderedTail: (runId: string, query: TailQuery) => renderedTail(pool, runId, query),
    /** Null if there is no such run. */
    progress: (runId: string) => readRunProgress(pool, runId),
    /** The progress of the runs that exist, by id. */
    progressOfRuns: (runIds: string[]) => readProgressOfRuns(pool, runIds),
  };
}
