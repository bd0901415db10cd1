import { limits } from './limits.ts';

export interface RedisMemory {
  usedBytes: number;
  /** The `maxmemory` of Redis. Null if it has none. */
  limitBytes: number | null;
  /** What Redis does at its limit. */
  policy: string;
}

/** With any other one, a full Redis deletes rate limits and presence to keep buffers. */
export const redisPolicy = 'noeviction';

/**
 * What Redis needs for a number of slots: for each, the keys of the run that occupies it, and those
 * of the run before it, which expire `limits.replay.bufferAfterEndMs` after its end.
 */
export function redisMemoryFor(slots: number): number {
  const { baseBytes, runMaxBytes } = limits.redis;
  return baseBytes + 2 * slots * runMaxBytes;
}

/** The same as a value of `maxmemory`. */
export const redisMaxMemory = (slots: number): string =>
  `${Math.ceil(redisMemoryFor(slots) / 1024 ** 2)}mb`;
