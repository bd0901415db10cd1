import { createHash } from 'node:crypto';
import { limits } from '../../core/limits.ts';
import { type TokenBucket, takeToken } from '../../core/token-bucket.ts';

/**
 * Limits database lookups for guessed keys. A key that was unknown a moment ago is not looked up
 * again, and an address that presents too many unknown keys has to wait. A key that was valid is
 * never delayed by other requests from its address. It is looked up for every call, so that a
 * revocation takes effect at the next one.
 */
export interface BruteForceGuard {
  /** 0: look the key up. Infinity: the key is known to be invalid. Else the seconds to wait. */
  retryAfterSeconds: (key: string, address: string) => number;
  record: (key: string, address: string, isKnown: boolean) => void;
}

export function createBruteForceGuard(nowMs: () => number): BruteForceGuard {
  const unknownUntil = boundedMap<number>();
  const valid = boundedMap<true>();
  const buckets = boundedMap<TokenBucket>();

  return {
    retryAfterSeconds(key, address) {
      const digest = digestOf(key);
      if (nowMs() < (unknownUntil.get(digest) ?? 0)) return Number.POSITIVE_INFINITY;
      if (valid.get(digest)) return 0;
      const bucket = buckets.get(address) ?? null;
      return takeToken({ bucket, perMinute: limits.unknownKey.perMinute, nowMs: nowMs() })
        .retryAfterSeconds;
    },
    record(key, address, isKnown) {
      const digest = digestOf(key);
      if (isKnown) return valid.set(digest, true);
      valid.delete(digest);
      unknownUntil.set(digest, nowMs() + limits.unknownKey.memoryMs);
      const bucket = buckets.get(address) ?? null;
      const taken = takeToken({ bucket, perMinute: limits.unknownKey.perMinute, nowMs: nowMs() });
      buckets.set(address, taken.bucket);
    },
  };
}

const digestOf = (key: string) => createHash('sha256').update(key).digest('base64');

/** Evicts the entry that was set longest ago. */
function boundedMap<V>() {
  const map = new Map<string, V>();
  return {
    get: (name: string) => map.get(name),
    delete: (name: string) => void map.delete(name),
    set(name: string, value: V): void {
      map.delete(name);
      map.set(name, value);
      if (map.size <= limits.unknownKey.addressesMax) return;
      const oldest = map.keys().next();
      if (!oldest.done) map.delete(oldest.value);
    },
  };
}
