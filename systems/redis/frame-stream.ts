// A run's stream in Redis. Postgres is the source of truth: a frame is published after its commit,
// so everything here may be lost at any moment without a reader losing anything. Publish/subscribe
// only wakes readers; the frames are in a stream under the id `<seq>-0`, which Redis does not
// accept twice.

import { limits } from '../../core/limits.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Redis } from './connect.ts';
import { readEntry, type StreamEntry, type StreamPosition } from './frame-entry.ts';
import { createFramePublisher, type FrameBatch, type PublishOutcome } from './frame-publisher.ts';
import { redisKeys } from './keys.ts';
import { type OnNotification, type SubscriberOptions, sharedOrNew } from './subscriber.ts';

/** No call throws: `failed`, false or null means that Redis could not be reached. */
export interface FrameStream {
  /** Call after the commit, in the order of the frames. Frames published before are skipped. */
  publish: (runId: string, batch: FrameBatch) => Promise<PublishOutcome>;
  /** Notifies readers that the run's state has changed in Postgres. */
  notify: (runId: string) => Promise<boolean>;
  /** Entries after a position, in order; with a gap at the start if Redis has trimmed them. */
  read: (runId: string, after: StreamPosition, count: number) => Promise<StreamEntry[] | null>;
  /** While Redis is down, notifications are late or lost; `resync` follows when it is back. */
  subscribe: (runId: string, onNotification: OnNotification) => () => void;
  /** Lets the run's keys expire `limits.replay.bufferAfterEndMs` later. Safe to repeat. */
  expire: (runId: string) => Promise<boolean>;
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
      const args = [json, limits.redis.runKeysTtlMs, keys.runChannel(runId)];
      return reached(redis.eval(treeScript, 1, keys.fileTree(runId), ...args));
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
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[3], 't')
return 1
`;

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
