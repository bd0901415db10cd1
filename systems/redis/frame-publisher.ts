// Writes a run's frames to its stream in Redis and notifies its readers. When Redis is full, the
// stream is emptied and only the notification is sent, so readers are as fast, and those who come
// later read Postgres. That releases memory for other runs, and leaves no gap within a stream.

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

/**
 * `rejected`: Redis has no memory for the batch, so readers were notified, but nothing is buffered.
 * `failed`: Redis did not answer.
 */
export type PublishOutcome = 'buffered' | 'rejected' | 'failed';

interface FramePublisher {
  publish: (runId: string, batch: FrameBatch) => Promise<PublishOutcome>;
  forget: (runId: string) => void;
}

/** One command per batch: a command per entry would cost most of this process's time. */
export function createFramePublisher(redis: Redis, keys: RedisKeys): FramePublisher {
  const trimmer = createStreamTrimmer();
  const keysOf = (runId: string) => [keys.frames(runId), keys.ended(runId)] as const;
  return {
    async publish(runId, batch) {
      const entries = inOrder(batch);
      if (entries.length === 0) return 'buffered';
      for (const entry of entries) trimmer.add(runId, entry);
      const bounds = [
        limits.replay.bufferFrames,
        trimmer.trim(runId) ?? '',
        limits.redis.runKeysTtlMs,
        limits.replay.bufferAfterEndMs,
      ];
      const notification = [keys.runChannel(runId), notificationOf(entries, lastSeqOf(batch))];
      const written = entries.flatMap(({ id, head, data }) => [id, head, data]);
      const args = [...bounds, ...notification, ...written];
      try {
        const isBuffered = await redis.eval(publishScript, 2, ...keysOf(runId), ...args);
        if (isBuffered === 1) return 'buffered';
        trimmer.forget(runId);
        return 'rejected';
      } catch {
        return 'failed';
      }
    },
    forget: trimmer.forget,
  };
}

/**
 * An id that Redis rejects as too small was published before, which counts as success. After the
 * end of the run, a publication leaves the expiry as it is.
 */
const publishScript = `
local bound, lowest, ttl, ttlAfterEnd, channel, notification = unpack(ARGV, 1, 6)
local isBuffered = 1
for i = 7, #ARGV, 3 do
  local id, head, data = unpack(ARGV, i, i + 2)
  local answer = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', bound, id, 'h', head, 'd', data)
  if type(answer) == 'table' and not string.find(answer.err, 'equal or smaller', 1, true) then
    isBuffered = 0
    break
  end
end
if isBuffered == 1 then
  if lowest ~= '' then redis.call('XTRIM', KEYS[1], 'MINID', lowest) end
  if redis.call('EXISTS', KEYS[2]) == 0 then
    redis.call('PEXPIRE', KEYS[1], ttl)
  elseif redis.call('PTTL', KEYS[1]) < 0 then
    redis.call('PEXPIRE', KEYS[1], ttlAfterEnd)
  end
else
  redis.pcall('XTRIM', KEYS[1], 'MAXLEN', 0)
end
redis.call('PUBLISH', channel, notification)
return isBuffered
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
  return bytes > limits.redis.notificationMaxBytes
    ? `f${lastSeq}`
    : `e${lastSeq} ${writeEntries(entries)}`;
}

function lastSeqOf({ frames, deltas }: FrameBatch): number {
  return frames.at(-1)?.seq ?? deltas.at(-1)?.seq ?? 0;
}
