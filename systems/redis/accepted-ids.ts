// The IDs of runs, sessions and messages whose acceptance is committed. If Postgres loses one of
// them in a failover, a worker detects the loss by its ID.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { redisClock, writeAlsoWhenFull } from './script-lines.ts';

export interface AcceptedIds {
  /** Call after the commit and before the answer, which does not wait. A failure is ignored. */
  add: (id: string) => void;
}

export function createAcceptedIds(redis: Redis, { instance }: { instance: string }): AcceptedIds {
  const key = redisKeys(instance).accepted;
  const { acceptedKeptMs, acceptedMax, acceptedTtlMs } = limits.redis;
  const bounds = [acceptedKeptMs, acceptedMax, acceptedTtlMs];
  return {
    add: (id) => void redis.eval(addScript, 1, key, id, ...bounds).catch(() => undefined),
  };
}

const addScript = `${writeAlsoWhenFull}${redisClock}
local id, keptMs, max, ttlMs = unpack(ARGV)
redis.call('ZADD', KEYS[1], now, id)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - keptMs)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - max)
redis.call('PEXPIRE', KEYS[1], ttlMs)
return 1
`;
