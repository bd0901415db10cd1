// Open streams are counted in Redis, across all processes. A slot expires unless it is renewed, so
// the slots of a process that dies become free.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { redisClock, writeAlsoWhenFull } from './script-lines.ts';

export interface StreamSlotRequest {
  slotId: string;
  keyId: string;
  projectId: string;
}

type StreamSlotAnswer =
  | { allowed: true; openOfKey: number }
  | { allowed: false; limit: number; current: number };

export interface StreamSlots {
  /** Null if Redis is down; nothing is counted then. */
  claim: (request: StreamSlotRequest) => Promise<StreamSlotAnswer | null>;
  /**
   * Call well within `limits.stream.slotTtlMs` of the last call. Never throws. Returns how many
   * streams of each key are open; nothing if Redis is down.
   */
  renew: (requests: StreamSlotRequest[]) => Promise<Map<string, number>>;
  release: (request: StreamSlotRequest) => Promise<void>;
  /**
   * Reserves time in which readers of the key reconnect. Returns in how many milliseconds it
   * begins: after the time that was reserved before, or at once if Redis is down. Never throws.
   */
  reserveReconnects: (keyId: string, durationMs: number) => Promise<number>;
}

export function createStreamSlots(redis: Redis, { instance }: { instance: string }): StreamSlots {
  const keys = redisKeys(instance);
  const keysOf = ({ keyId, projectId }: StreamSlotRequest) =>
    [keys.streamSlots('key', keyId), keys.streamSlots('project', projectId)] as const;

  return {
    async claim(request) {
      const limitsOf = [limits.stream.perKey, limits.stream.perProject];
      const args = [request.slotId, limits.stream.slotTtlMs, ...limitsOf];
      try {
        const answer = await redis.eval(claimScript, 2, ...keysOf(request), ...args);
        const [limit, current] = answer as [number, number]; // what the script returns
        return limit === 0
          ? { allowed: true, openOfKey: current }
          : { allowed: false, limit, current };
      } catch {
        return null;
      }
    },
    async renew(requests) {
      const pipeline = redis.pipeline();
      for (const request of requests) {
        pipeline.eval(renewScript, 2, ...keysOf(request), request.slotId, limits.stream.slotTtlMs);
      }
      const answers = await pipeline.exec().catch(() => null);
      const counts = requests.map(({ keyId }, i) => [keyId, answers?.[i]?.[1]] as const);
      return new Map(counts.filter(isCounted));
    },
    async release(request) {
      const pipeline = redis.pipeline();
      for (const key of keysOf(request)) pipeline.zrem(key, request.slotId);
      await pipeline.exec().catch(() => null);
    },
    async reserveReconnects(keyId, durationMs) {
      const args = [Math.ceil(durationMs), limits.stream.reconnectMaxMs];
      try {
        return Number(await redis.eval(reserveScript, 1, keys.reconnects(keyId), ...args));
      } catch {
        return 0;
      }
    },
  };
}

const isCounted = (entry: readonly [string, unknown]): entry is [string, number] =>
  typeof entry[1] === 'number';

/**
 * Returns the limit that is reached and the count; if the slot was claimed, 0 and the key's. A full
 * Redis claims, too, because the first write needs no memory.
 */
const claimScript = `${redisClock}
local ofKey
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local taken, limit = redis.call('ZCARD', key), tonumber(ARGV[2 + i])
  if taken >= limit then return { limit, taken } end
  ofKey = ofKey or taken + 1
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return { 0, ofKey }
`;

/** Claims the slot again if Redis has lost it. Returns the number of open streams of the key. */
const renewScript = `${writeAlsoWhenFull}${redisClock}
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return redis.call('ZCOUNT', KEYS[1], now, '+inf')
`;

const reserveScript = `${writeAlsoWhenFull}${redisClock}
local reserved = tonumber(redis.call('GET', KEYS[1]) or now)
local from = math.min(math.max(now, reserved), now + ARGV[2])
redis.call('SET', KEYS[1], from + ARGV[1], 'PX', from + ARGV[1] - now)
return from - now
`;
