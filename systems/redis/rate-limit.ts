// Two token buckets per key: a shared one in Redis, and one in memory for the calls of this
// process. A call needs a token of both. If Redis is down or has lost its data, the second one
// still limits.

import { limits } from '../../core/limits.ts';
import { answerAt, partsPerToken, type TokenAnswer, takeToken } from '../../core/token-bucket.ts';
import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { createLocalBuckets } from './local-buckets.ts';
import { redisClock, writeAlsoWhenFull } from './script-lines.ts';

export interface RateLimiter {
  /** Takes a token of a bucket that holds `perMinute` and refills continuously. Never throws. */
  take: (keyId: string, perMinute: number) => Promise<TokenAnswer>;
}

interface RateLimiterOptions {
  instance: string;
  /** Milliseconds since 1970, monotonic. */
  nowMs: () => number;
}

export function createRateLimiter(
  redis: Redis,
  { instance, nowMs }: RateLimiterOptions,
): RateLimiter {
  const keys = redisKeys(instance);
  const buckets = createLocalBuckets();
  let retryAtMs = 0;

  /** Skips Redis for a moment after a failure, so that calls do not each wait for the timeout. */
  async function takeShared(keyId: string, perMinute: number): Promise<SharedLevel | null> {
    if (nowMs() < retryAtMs) return null;
    try {
      const args = [keys.bucket(keyId), perMinute, partsPerToken];
      return (await redis.eval(takeScript, 1, ...args)) as SharedLevel; // what the script returns
    } catch {
      retryAtMs = nowMs() + limits.redis.backoffMs;
      return null;
    }
  }

  return {
    async take(keyId, perMinute) {
      const own = takeToken({ bucket: buckets.get(keyId), perMinute, nowMs: nowMs() });
      buckets.set(keyId, own);
      if (!own.allowed) return own;
      const shared = await takeShared(keyId, perMinute);
      if (shared === null) return own;
      const parts = Math.min(buckets.get(keyId)?.parts ?? own.bucket.parts, shared[1]);
      const bucket = { parts, atMs: nowMs() };
      const answer = answerAt({ bucket, perMinute, allowed: shared[0] === 1 });
      buckets.set(keyId, answer);
      return answer;
    },
  };
}

type SharedLevel = [allowed: number, parts: number];

/** A full bucket expires. */
const takeScript = `${redisClock}
local perMinute, token = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = perMinute * token
local known = redis.call('HMGET', KEYS[1], 'parts', 'at')
local elapsed = math.min(60000, math.max(0, now - (tonumber(known[2]) or now)))
local parts = math.min(full, (tonumber(known[1]) or full) + elapsed * perMinute)
local allowed = 0
if parts >= token then
  parts = parts - token
  allowed = 1
end
${writeAlsoWhenFull}
redis.call('HSET', KEYS[1], 'parts', parts, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil((full - parts) / perMinute) + 1000)
return { allowed, parts }
`;
