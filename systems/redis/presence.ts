// Processes record every few seconds which sessions' streams they have readers for. Only the last
// time is kept, so a process that dies simply stops counting.

import { limits } from '../../core/limits.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { redisClock, writeAlsoWhenFull } from './script-lines.ts';

export interface Presence {
  /** Records that the streams of these runs have readers. Never throws. */
  touch: (runIds: string[]) => Promise<void>;
  /** Time since the last reader: 0 if Redis is down, null if there was none recently. */
  unattendedForMs: (runId: string) => Promise<number | null>;
}

export function createPresence(redis: Redis, { instance }: { instance: string }): Presence {
  const keys = redisKeys(instance);
  return {
    async touch(runIds) {
      if (runIds.length === 0) return;
      const pipeline = redis.pipeline();
      for (const runId of runIds) {
        pipeline.eval(touchScript, 1, keys.presence(runId), limits.presence.ttlMs);
      }
      await pipeline.exec().catch(() => null);
    },
    async unattendedForMs(runId) {
      try {
        const answer = await redis.eval(sinceScript, 1, keys.presence(runId));
        return answer === null ? null : Number(answer);
      } catch {
        return 0;
      }
    },
  };
}

const touchScript = `${writeAlsoWhenFull}${redisClock}
redis.call('SET', KEYS[1], now, 'PX', ARGV[1])
return 1
`;

const sinceScript = `${redisClock}
local last = redis.call('GET', KEYS[1])
if not last then return nil end
return tostring(math.max(0, now - tonumber(last)))
`;
