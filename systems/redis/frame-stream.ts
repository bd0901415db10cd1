// A run's stream in Redis. Postgres is the source of truth: a frame is published after its commit,
// so everything here may be lost at any moment without a reader losing anything. Publish/subscribe
// only wakes readers; the frames are in a stream under the id `<seq>-0`, which Redis does not
// accept twice.

import type { Delta, StoredFrame } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Redis } from './connect.ts';
import {
  deltaEntry,
  frameEntry,
  readEntry,
  type StreamEntry,
  type StreamPosition,
  type WrittenEntry,
  writeEntries,
} from './frame-entry.ts';
import { type RedisKeys, redisKeys } from './keys.ts';
import { createStreamTrimmer } from './stream-trimmer.ts';
import { type OnNotification, type SubscriberOptions, sharedOrNew } from './subscriber.ts';

/** Frames in order of `seq`, and the token deltas that came after each of them. */
interface FrameBatch {
  frames: StoredFrame[];
  deltas: Delta[];
}

/** No call throws: false or null means that Redis could not be reached. */
export interface FrameStream {
  /** Call after the commit, in the order of the frames. Frames published before are skipped. */
  publish: (runId: string, batch: FrameBatch) => Promise<boolean>;
  /** Notifies readers that the run's state has changed in Postgres. */
  notify: (runId: string) => Promise<boolean>;
  /** Entries after a position, in order; with a gap at the start if Redis has trimmed them. */
  read: (runId: string, after: StreamPosition, count: number) => Promise<StreamEntry[] | null>;
  /** While Redis is down, notifications are late or lost; `resync` follows when it is back. */
  subscribe: (runId: string, onNotification: OnNotification) => () => void;
  /** Lets the run's keys expire in an hour. Safe to repeat. */
  expire: (runId: string) => Promise<boolean>;
  publishFileTree: (runId: string, json: string) => Promise<boolean>;
  /** `json` is null if Redis has none. */
  readFileTree: (runId: string) => Promise<{ json: string | null } | null>;
  close: () => void;
}

export function createFrameStream(
  redis: Redis,
  { instance, ...options }: SubscriberOptions & { instance: string },
): FrameStream {
  const keys = redisKeys(instance);
  const publisher = createPublisher(redis, keys);
  const breaker = createCircuitBreaker();
  const subscriber = sharedOrNew(redis, options);

  return {
    publish: (runId, batch) => breaker.run(false, () => publisher.publish(runId, batch)),
    notify: (runId) => reached(redis.publish(keys.runChannel(runId), 's')),
    read: (runId, after, count) =>
      breaker.run(null, () => readEntries(redis, keys.frames(runId), { after, count })),
    subscribe: (runId, onNotification) =>
      subscriber.subscribe(keys.runChannel(runId), onNotification),
    expire(runId) {
      publisher.forget(runId);
      const pipeline = redis.pipeline();
      pipeline.pexpire(keys.frames(runId), limits.replay.bufferAfterEndMs);
      pipeline.pexpire(keys.fileTree(runId), limits.replay.bufferAfterEndMs);
      return reached(pipeline.exec());
    },
    publishFileTree(runId, json) {
      const pipeline = redis.pipeline();
      pipeline.set(keys.fileTree(runId), json, 'PX', limits.redis.runKeysTtlMs);
      pipeline.publish(keys.runChannel(runId), 't');
      return reached(pipeline.exec());
    },
    readFileTree: (runId) => breaker.run(null, () => readTree(redis, keys.fileTree(runId))),
    close: subscriber.close,
  };
}

/** One command per batch: a command per entry would cost most of this process's time. */
function createPublisher(redis: Redis, keys: RedisKeys) {
  const trimmer = createStreamTrimmer();
  return {
    async publish(runId: string, batch: FrameBatch): Promise<boolean> {
      const entries = inOrder(batch);
      if (entries.length === 0) return true;
      for (const entry of entries) trimmer.add(runId, entry);
      const bounds = [
        limits.replay.bufferFrames,
        trimmer.trim(runId) ?? '',
        limits.redis.runKeysTtlMs,
      ];
      const notification = [keys.runChannel(runId), notificationOf(entries, lastSeqOf(batch))];
      const written = entries.flatMap(({ id, head, data }) => [id, head, data]);
      return reached(
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
  return bytes > limits.redis.notificationMaxBytes
    ? `f${lastSeq}`
    : `e${lastSeq} ${writeEntries(entries)}`;
}

function lastSeqOf({ frames, deltas }: FrameBatch): number {
  return frames.at(-1)?.seq ?? deltas.at(-1)?.seq ?? 0;
}

async function readEntries(
  redis: Redis,
  key: string,
  { after, count }: { after: StreamPosition; count: number },
): Promise<StreamEntry[] | null> {
  try {
    const found = await redis.xrange(key, `(${after.seq}-${after.n}`, '+', 'COUNT', count);
    return found.map(([id, fields]) => readEntry(id, fields));
  } catch {
    return null;
  }
}

async function readTree(redis: Redis, key: string): Promise<{ json: string | null } | null> {
  try {
    return { json: await redis.get(key) };
  } catch {
    return null;
  }
}

/** A pipeline returns an error per command. */
async function reached(answer: Promise<unknown>): Promise<boolean> {
  try {
    const answers = await answer;
    return !Array.isArray(answers) || answers.every(([error]) => error === null);
  } catch {
    return false;
  }
}
