/**
 * A bucket that holds one minute's worth of calls and refills continuously. A call costs 60 000
 * parts, so one millisecond refills `perMinute` parts and all arithmetic is in integers.
 */
export interface TokenBucket {
  parts: number;
  atMs: number;
}

export interface TokenAnswer {
  bucket: TokenBucket;
  allowed: boolean;
  limit: number;
  remaining: number;
  /** When the bucket is full again, in seconds since 1970. */
  resetAtSeconds: number;
  /** Seconds until the next call is allowed, rounded up; 0 if this one was. */
  retryAfterSeconds: number;
}

interface TakeToken {
  /** Null: never used, so full. */
  bucket: TokenBucket | null;
  perMinute: number;
  nowMs: number;
}

export function takeToken({ bucket, perMinute, nowMs }: TakeToken): TokenAnswer {
  const before = partsAt({ bucket, perMinute, nowMs });
  const allowed = before >= partsPerToken;
  const parts = allowed ? before - partsPerToken : before;
  return answerAt({ bucket: { parts, atMs: nowMs }, perMinute, allowed });
}

/** The answer for a bucket with a known level. */
export function answerAt(known: {
  bucket: TokenBucket;
  perMinute: number;
  allowed: boolean;
}): TokenAnswer {
  const { bucket, perMinute, allowed } = known;
  const missing = perMinute * partsPerToken - bucket.parts;
  return {
    bucket,
    allowed,
    limit: perMinute,
    remaining: Math.floor(bucket.parts / partsPerToken),
    resetAtSeconds: Math.ceil((bucket.atMs + missing / perMinute) / 1_000),
    retryAfterSeconds: allowed ? 0 : secondsUntil(partsPerToken - bucket.parts, perMinute),
  };
}

export const partsPerToken = 60_000;
const refillMs = 60_000;

/** If the clock goes back, nothing is refilled. A minute fills any bucket. */
function partsAt({ bucket, perMinute, nowMs }: TakeToken): number {
  const full = perMinute * partsPerToken;
  if (bucket === null) return full;
  const elapsedMs = Math.min(Math.max(Math.floor(nowMs - bucket.atMs), 0), refillMs);
  return Math.min(full, bucket.parts + elapsedMs * perMinute);
}

function secondsUntil(missingParts: number, perMinute: number): number {
  return Math.max(1, Math.ceil(missingParts / perMinute / 1_000));
}
