import type { Delta, StoredFrame } from '../../core/frame.ts';
import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { deltaEntry, frameEntry, type WrittenEntry } from './frame-entry.ts';
import type { RedisKeys } from './keys.ts';
import { createStreamBudget } from './stream-budget.ts';

/** Frames in order of `seq`, and the token deltas that came after each of them. */
export interface FrameBatch {
  frames: StoredFrame[];
  deltas: Delta[];
}

export interface FramePublisher {
  publish: (runId: string, batch: FrameBatch) => Promise<boolean>;
  forget: (runId: string) => void;
}

/** One round trip a batch: the entries, the bounds, the wake-up. */
export function createFramePublisher(redis: Redis, keys: RedisKeys): FramePublisher {
  const budget = createStreamBudget();
  return {
    async publish(runId, batch) {
      const entries = inOrder(batch);
      if (entries.length === 0) return true;
      const key = keys.frames(runId);
      const pipeline = redis.pipeline();
      for (const entry of entries) {
        budget.add(runId, entry);
        pipeline.xadd(key, 'MAXLEN', '~', limits.replayBufferFrames, entry.id, ...entry.fields);
      }
      const lowestId = budget.trim(runId);
      if (lowestId !== null) pipeline.xtrim(key, 'MINID', lowestId);
      pipeline.pexpire(key, limits.redisLiveMs);
      pipeline.publish(keys.wake(runId), `f${lastSeqOf(batch)}`);
      return wasTaken(pipeline.exec());
    },
    forget: budget.forget,
  };
}

function inOrder({ frames, deltas }: FrameBatch): WrittenEntry[] {
  const entries: WrittenEntry[] = [];
  let next = 0;
  const takeDeltasUpTo = (seq: number) => {
    for (let delta = deltas[next]; delta !== undefined && delta.seq <= seq; delta = deltas[next]) {
      entries.push(deltaEntry(delta));
      next += 1;
    }
  };
  for (const frame of frames) {
    takeDeltasUpTo(frame.seq - 1);
    entries.push(frameEntry(frame));
  }
  takeDeltasUpTo(Number.POSITIVE_INFINITY);
  return entries;
}

function lastSeqOf({ frames, deltas }: FrameBatch): number {
  return frames.at(-1)?.seq ?? deltas.at(-1)?.seq ?? 0;
}

/** What was published before is refused as such, and that is as good as taken. */
async function wasTaken(answer: Promise<[Error | null, unknown][] | null>): Promise<boolean> {
  try {
    const answers = (await answer) ?? [];
    return answers.every(([error]) => error === null || isKnownId(error));
  } catch {
    return false;
  }
}

function isKnownId(error: Error): boolean {
  return error.message.includes('equal or smaller than the target stream top item');
}
