// Open streams are counted in Redis, where all processes share the count. A seat lapses by itself
// unless it is renewed, so that a process that dies gives its seats back.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';

export interface SeatRequest {
  seatId: string;
  keyId: string;
  projectId: string;
}

export type SeatAnswer = { allowed: true } | { allowed: false; limit: number; current: number };

export interface StreamSeats {
  /** Null: Redis could not be reached, and nothing was counted. */
  take: (request: SeatRequest) => Promise<SeatAnswer | null>;
  /** Call well within `limits.streamSeatMs` of the last time. Never throws. */
  renew: (requests: SeatRequest[]) => Promise<void>;
  giveBack: (request: SeatRequest) => Promise<void>;
}

export function createStreamSeats(redis: Redis, { instance }: { instance: string }): StreamSeats {
  const keys = redisKeys(instance);
  const keysOf = ({ keyId, projectId }: SeatRequest) =>
    [keys.seats('key', keyId), keys.seats('project', projectId)] as const;

  return {
    async take(request) {
      const limitsOf = [limits.streamsPerKey, limits.streamsPerProject];
      const args = [request.seatId, limits.streamSeatMs, ...limitsOf];
      try {
        const answer = await redis.eval(takeScript, 2, ...keysOf(request), ...args);
        const [limit, current] = answer as [number, number]; // what the script returns
        return limit === 0 ? { allowed: true } : { allowed: false, limit, current };
      } catch {
        return null;
      }
    },
    async renew(requests) {
      const pipeline = redis.pipeline();
      for (const request of requests) {
        pipeline.eval(renewScript, 2, ...keysOf(request), request.seatId, limits.streamSeatMs);
      }
      await pipeline.exec().catch(() => null);
    },
    async giveBack(request) {
      const pipeline = redis.pipeline();
      for (const key of keysOf(request)) pipeline.zrem(key, request.seatId);
      await pipeline.exec().catch(() => null);
    },
  };
}

const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Returns the limit that is reached and the count, or zeros where the seat was taken. */
const takeScript = `${clock}
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

/** Also takes the seat again where Redis has forgotten it. */
const renewScript = `${clock}
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2])
end
return 1
`;
