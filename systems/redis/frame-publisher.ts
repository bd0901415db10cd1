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

interface FramePublisher {
  publish: (runId: string, batch: FrameBatch) => Promise<boolean>;
  forget: (runId: string) => void;
}

/** One command per batch: a command per entry would cost most of this process's time. */
export function createFramePublisher(redis: Redis, keys: RedisKeys): FramePublisher {
  const trimmer = createStreamTrimmer();
  return {
    async publish(runId, batch) {
      const entries = inOrder(batch);
      if (entries.length === 0) return true;
      for (const entry of entries) trimmer.add(runId, entry);
      const bounds = [limits.replayBufferFrames, trimmer.trim(runId) ?? '', limits.redisLiveMs];
      const notification = [keys.runChannel(runId), notificationOf(entries, lastSeqOf(batch))];
      const written = entries.flatMap(({ id, head, data }) => [id, head, data]);
      return succeeds(
        redis.eval(publishScript, 1, keys.frames(runId), ...bounds, ...notification, ...written),
      );
    },
    forget: trimmer.forget,
  };
}

/** An id that Redis rejects as too small was published before, which counts as success. */
const publishScript = `
local bound, lowest, ttl, channel, notification = unpack(ARGV, 1, 5)
for i = 6, #ARGV, 3 do
  local id, head, data = unpack(ARGV, i, i + 2)
  local answer = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', bound, id, 'h', head, 'd', data)
  if type(answer) == 'table' and not string.find(answer.err, 'equal or smaller', 1, true) then
    return answer
  end
end
if lowest ~= '' then redis.call('XTRIM', KEYS[1], 'MINID', lowest) end
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PUBLISH', channel, notification)
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

/** A short batch is included in the notification, so that current readers need not fetch it. */
function notificationOf(entries: WrittenEntry[], lastSeq: number): string {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return bytes > limits.redisNotificationMaxBytes
    ? `f${lastSeq}`
    : `e${lastSeq} ${writeEntries(entries)}`;
}

function lastSeqOf({ frames, deltas }: FrameBatch): number {
  return frames.at(-1)?.seq ?? deltas.at(-1)?.seq ?? 0;
}

async function succeeds(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch {
    return false;
  }
}
