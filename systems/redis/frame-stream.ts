// A run's stream in Redis. Postgres is the source of truth: a frame is published after its commit,
// so everything here may be lost at any moment without a reader losing anything. Publish/subscribe
// only wakes readers; the frames are in a stream under the id `<seq>-0`, which Redis does not
// accept twice.

import { limits } from '../../core/limits.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Redis } from './connect.ts';
import { readEntry, type StreamEntry, type StreamPosition } from './frame-entry.ts';
import { createFramePublisher, type FrameBatch, type PublishOutcome } from './frame-publisher.ts';
import { type RedisKeys, redisKeys } from './keys.ts';
import { type OnNotification, type SubscriberOptions, sharedOrNew } from './subscriber.ts';

/** No call throws: `failed`, false or null means that Redis could not be reached. */
export interface FrameStream {
  /** Call after the commit, in the order of the frames. Frames published before are skipped. */
  publish: (runId: string, batch: FrameBatch) => Promise<PublishOutcome>;
  /** Notifies readers that the run's state has changed in Postgres. */
  notify: (runId: string) => Promise<boolean>;
  /** Entries after a position, in order; with a gap at the start if Redis has trimmed them. */
  read: (runId: string, after: StreamPosition, count: number) => Promise<StreamEntry[] | null>;
  /** Like `read`, but the page ends with the entry that reaches `maxBytes`. */
  readPage: (
    runId: string,
    after: StreamPosition,
    page: { count: number; maxBytes: number },
  ) => Promise<StreamEntry[] | null>;
  /** While Redis is down, notifications are late or lost; `resync` follows when it is back. */
  subscribe: (runId: string, onNotification: OnNotification) => () => void;
  /** Lets the run's keys expire `limits.replay.bufferAfterEndMs` later. Safe to repeat. */
  expire: (runId: string) => Promise<boolean>;
  /** The same for a run that has ended: publications after the call do not keep its keys longer. */
  expireEnded: (runId: string) => Promise<boolean>;
  /** Repeats the calls of `expire` and `expireEnded` that have failed in this process. */
  retryExpiries: () => Promise<void>;
  publishFileTree: (runId: string, json: string) => Promise<boolean>;
  /** `json` is null if Redis has none. */
  readFileTree: (runId: string) => Promise<{ json: string | null } | null>;
  close: () => void;
}

interface FrameStreamOptions extends SubscriberOptions {
  instance: string;
  onPublished?: (outcome: PublishOutcome) => void;
}

export function createFrameStream(
  redis: Redis,
  { instance, onPublished = () => undefined, ...options }: FrameStreamOptions,
): FrameStream {
  const keys = redisKeys(instance);
  const publisher = createFramePublisher(redis, keys);
  const expiries = createExpiries(redis, keys);
  const breaker = createCircuitBreaker();
  const subscriber = sharedOrNew(redis, options);

  return {
    async publish(runId, batch) {
      const publish = () => publisher.publish(runId, batch);
      const outcome = await breaker.run<PublishOutcome>('failed', publish);
      onPublished(outcome);
      return outcome;
    },
    notify: (runId) => reached(redis.publish(keys.runChannel(runId), 's')),
    read: (runId, after, count) =>
      breaker.run(null, () =>
        parsed(redis.xrange(keys.frames(runId), `(${after.seq}-${after.n}`, '+', 'COUNT', count)),
      ),
    readPage: (runId, { seq, n }, { count, maxBytes }) =>
      breaker.run(null, () => {
        const args = [`(${seq}-${n}`, count, maxBytes];
        const page = redis.eval(pageScript, 1, keys.frames(runId), ...args);
        return parsed(page as Promise<StoredEntry[]>); // as the script returns them
      }),
    subscribe: (runId, onNotification) =>
      subscriber.subscribe(keys.runChannel(runId), onNotification),
    expire(runId) {
      publisher.forget(runId);
      return expiries.set(runId, { hasEnded: false });
    },
    expireEnded(runId) {
      publisher.forget(runId);
      return expiries.set(runId, { hasEnded: true });
    },
    retryExpiries: expiries.retry,
    publishFileTree(runId, json) {
      const ttls = [limits.redis.runKeysTtlMs, limits.replay.bufferAfterEndMs];
      const args = [json, ...ttls, keys.runChannel(runId)];
      return reached(redis.eval(treeScript, 2, keys.fileTree(runId), keys.ended(runId), ...args));
    },
    readFileTree: (runId) => breaker.run(null, () => readTree(redis, keys.fileTree(runId))),
    close: subscriber.close,
  };
}

/**
 * The tree is in Redis only while the run is active, so a full Redis takes it, too. Deleting the
 * old one first allows that: see `writeAlsoWhenFull`.
 */
const treeScript = `
local ttl = redis.call('EXISTS', KEYS[2]) == 0 and ARGV[2] or ARGV[3]
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
redis.call('PUBLISH', ARGV[4], 't')
return 1
`;

/** Remembers the runs whose keys Redis did not let expire: they would stay for a day. */
function createExpiries(redis: Redis, keys: RedisKeys) {
  /** Whether the run has ended, by run. */
  const failed = new Map<string, boolean>();

  async function set(runId: string, given: { hasEnded: boolean }): Promise<boolean> {
    const hasEnded = given.hasEnded || failed.get(runId) === true;
    const keysOf = [keys.frames(runId), keys.fileTree(runId), keys.ended(runId)];
    const ttls = [limits.replay.bufferAfterEndMs, hasEnded ? limits.redis.endedTtlMs : 0];
    const isSet = await reached(redis.eval(expiryScript, keysOf.length, ...keysOf, ...ttls));
    if (isSet) failed.delete(runId);
    else if (failed.size < limits.redis.failedExpiriesMax) failed.set(runId, hasEnded);
    return isSet;
  }

  return {
    set,
    /** Harmless for a session that was resumed: its next publication keeps the keys longer. */
    async retry(): Promise<void> {
      for (const [runId, hasEnded] of failed) if (!(await set(runId, { hasEnded }))) return;
    },
  };
}

/** A full Redis takes the mark, because the first write needs no memory. */
const expiryScript = `
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
if ARGV[2] ~= '0' then redis.call('SET', KEYS[3], '', 'PX', ARGV[2]) end
return 1
`;

/**
 * Redis itself cannot limit the bytes of an answer. The script reads few entries at a time, because
 * each may have `limits.redis.frameMaxBytes`.
 */
const pageScript = `
local page, bytes, from = {}, 0, ARGV[1]
local count, maxBytes, step = tonumber(ARGV[2]), tonumber(ARGV[3]), 16
while true do
  local found = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', step)
  for _, entry in ipairs(found) do
    page[#page + 1] = entry
    bytes = bytes + #entry[2][4]
    if #page >= count or bytes >= maxBytes then return page end
  end
  if #found < step then return page end
  from = '(' .. page[#page][1]
end
`;

type StoredEntry = [id: string, fields: string[]];

async function parsed(found: Promise<StoredEntry[]>): Promise<StreamEntry[] | null> {
  try {
    return (await found).map(([id, fields]) => readEntry(id, fields));
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

async function reached(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch {
    return false;
  }
}
