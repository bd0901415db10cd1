// What Redis does for a run's stream. Postgres is the truth: a frame is published after it was
// committed there, so everything here may be lost at any moment and a reader loses nothing.
// Publish/subscribe only wakes readers up; the frames are in a stream, under the id `<seq>-0`,
// which Redis refuses to take twice.

import { limits } from '../../core/limits.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Redis } from './connect.ts';
import { readEntry, type StreamEntry, type StreamPosition } from './frame-entry.ts';
import { createFramePublisher, type FrameBatch } from './frame-publisher.ts';
import { redisKeys } from './keys.ts';
import { createSubscriber, type Notification } from './subscriber.ts';

export type { StreamEntry, StreamPosition } from './frame-entry.ts';
export type { FrameBatch } from './frame-publisher.ts';
export type { Notification } from './subscriber.ts';

/** No call throws: false or null says that Redis could not be reached. */
export interface FrameStream {
  /** Call after the commit, in the order of the frames. Frames that are there already are left. */
  publish: (runId: string, batch: FrameBatch) => Promise<boolean>;
  /** Says that the state of the run has changed in Postgres. */
  notify: (runId: string) => Promise<boolean>;
  /** What stands after a place, in order; may begin later than the next frame where Redis forgot. */
  read: (runId: string, after: StreamPosition, count: number) => Promise<StreamEntry[] | null>;
  /** Wakes come late or not at all while Redis is away; when it returns, one says `resync`. */
  subscribe: (runId: string, onWake: (wake: Notification) => void) => () => void;
  /** Lets the run's keys go an hour from now. Safe to repeat. */
  expire: (runId: string) => Promise<boolean>;
  publishFileTree: (runId: string, json: string) => Promise<boolean>;
  /** `json` is null where Redis has none. */
  readFileTree: (runId: string) => Promise<{ json: string | null } | null>;
  close: () => void;
}

export interface FrameStreamOptions {
  instance: string;
  onError?: (error: Error) => void;
}

export function createFrameStream(redis: Redis, options: FrameStreamOptions): FrameStream {
  const keys = redisKeys(options.instance);
  const publisher = createFramePublisher(redis, keys);
  const gate = createCircuitBreaker();
  const listener = createSubscriber(redis, { onError: options.onError ?? (() => undefined) });

  return {
    publish: (runId, batch) => gate.run(false, () => publisher.publish(runId, batch)),
    notify: (runId) => reached(redis.publish(keys.runChannel(runId), 's')),
    read: (runId, after, count) =>
      gate.run(null, () => readEntries(redis, keys.frames(runId), { after, count })),
    subscribe: (runId, onWake) => listener.subscribe(keys.runChannel(runId), onWake),
    expire(runId) {
      publisher.forget(runId);
      const pipeline = redis.pipeline();
      pipeline.pexpire(keys.frames(runId), limits.replayBufferAfterEndMs);
      pipeline.pexpire(keys.fileTree(runId), limits.replayBufferAfterEndMs);
      return reached(pipeline.exec());
    },
    publishFileTree(runId, json) {
      const pipeline = redis.pipeline();
      pipeline.set(keys.fileTree(runId), json, 'PX', limits.redisLiveMs);
      pipeline.publish(keys.runChannel(runId), 't');
      return reached(pipeline.exec());
    },
    readFileTree: (runId) => gate.run(null, () => readTree(redis, keys.fileTree(runId))),
    close: listener.close,
  };
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

/** A pipeline answers with an error per command. */
async function reached(answer: Promise<unknown>): Promise<boolean> {
  try {
    const answers = await answer;
    return !Array.isArray(answers) || answers.every(([error]) => error === null);
  } catch {
    return false;
  }
}
