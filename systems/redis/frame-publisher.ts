import type { Delta, StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { deltaEntry, frameEntry, type WrittenEntry, writeEntries } from './frame-entry.ts';
import type { RedisKeys } from './keys.ts';
import { createStreamTrimmer } from './stream-trimmer.ts';

/** Frames in order of `seq`, and the token deltas that came after each of them. */
export interface FrameBatch {
  frames: StoredFrame[];
  deltas: Delta[];
}

export interface FramePublisher {
  publish: (runId: string, batch: FrameBatch) => Promise<boolean>;
  forget: (runId: string) => void;
}

/** One command a batch: a command for each entry would cost this process most of its time. */
export function createFramePublisher(redis: Redis, keys: RedisKeys): FramePublisher {
  const budget = createStreamTrimmer();
  return {
    async publish(runId, batch) {
      const entries = inOrder(batch);
      if (entries.length === 0) return true;
      for (const entry of entries) budget.add(runId, entry);
      const bounds = [limits.replayBufferFrames, budget.trim(runId) ?? '', limits.redisLiveMs];
      const wake = [keys.runChannel(runId), wakeOf(entries, lastSeqOf(batch))];
      const written = entries.flatMap(({ id, head, data }) => [id, head, data]);
      return wasTaken(
        redis.eval(publishScript, 1, keys.frames(runId), ...bounds, ...wake, ...written),
      );
    },
    forget: budget.forget,
  };
}

/** An id that is refused was published before, and that is as good as taken. */
const publishScript = `
local bound, lowest, ttl, channel, word = unpack(ARGV, 1, 5)
for i = 6, #ARGV, 3 do
  local id, head, data = unpack(ARGV, i, i + 2)
  local answer = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', bound, id, 'h', head, 'd', data)
  if type(answer) == 'table' and not string.find(answer.err, 'equal or smaller', 1, true) then
    return answer
  end
end
if lowest ~= '' then redis.call('XTRIM', KEYS[1], 'MINID', lowest) end
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PUBLISH', channel, word)
return 1
`;

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

/** A short batch comes with the word of it: whoever was up to date need not ask for it. */
function wakeOf(entries: WrittenEntry[], lastSeq: number): string {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return bytes > limits.redisNotificationMaxBytes
    ? `f${lastSeq}`
    : `e${lastSeq} ${writeEntries(entries)}`;
}

function lastSeqOf({ frames, deltas }: FrameBatch): number {
  return frames.at(-1)?.seq ?? deltas.at(-1)?.seq ?? 0;
}

async function wasTaken(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch {
    return false;
  }
}
