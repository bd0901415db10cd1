// Open streams are counted in Redis, across all processes. A slot expires unless it is renewed, so
// the slots of a process that dies become free.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';

export interface StreamSlotRequest {
  slotId: string;
  keyId: string;
  projectId: string;
}

export type StreamSlotAnswer =
  | { allowed: true }
  | { allowed: false; limit: number; current: number };

export interface StreamSlots {
  /** Null if Redis is down; nothing is counted then. */
  claim: (request: StreamSlotRequest) => Promise<StreamSlotAnswer | null>;
  /** Call well within `limits.stream.slotTtlMs` of the last call. Never throws. */
  renew: (requests: StreamSlotRequest[]) => Promise<void>;
  release: (request: StreamSlotRequest) => Promise<void>;
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
        return limit === 0 ? { allowed: true } : { allowed: false, limit, current };
      } catch {
        return null;
      }
    },
    async renew(requests) {
      const pipeline = redis.pipeline();
      for (const request of requests) {
        pipeline.eval(renewScript, 2, ...keysOf(request), request.slotId, limits.stream.slotTtlMs);
      }
      await pipeline.exec().catch(() => null);
    },
    async release(request) {
      const pipeline = redis.pipeline();
      for (const key of keysOf(request)) pipeline.zrem(key, request.slotId);
      await pipeline.exec().catch(() => null);
    },
  };
}

const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Returns the limit that is reached and the count, or zeros if the slot was claimed. */
const claimScript = `${clock}
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local taken, limit = redis.call('ZCARD', key), tonumber(ARGV[2 + i])
  if taken >= limit then return { limit, taken } end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return { 0, 0 }
`;

/** Claims the slot again if Redis has lost it. */
const renewScript = `${clock}
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return 1
`;
