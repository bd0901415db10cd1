import type { TokenAnswer, TokenBucket } from '../../core/token-bucket.ts';

interface LocalBuckets {
  get: (keyId: string) => TokenBucket | null;
  set: (keyId: string, answer: TokenAnswer) => void;
}

/** Buckets in memory. A bucket that would be full again is dropped: only busy keys have one. */
export function createLocalBuckets(): LocalBuckets {
  const buckets = new Map<string, { bucket: TokenBucket; fullAtSeconds: number }>();
  let cleanUpAtCount = cleanUpEvery;

  function removeFull(nowSeconds: number): void {
    for (const [keyId, { fullAtSeconds }] of buckets) {
      if (fullAtSeconds < nowSeconds) buckets.delete(keyId);
    }
    cleanUpAtCount = buckets.size + cleanUpEvery;
  }

  return {
    get: (keyId) => buckets.get(keyId)?.bucket ?? null,
    set(keyId, { bucket, resetAtSeconds }) {
      buckets.set(keyId, { bucket, fullAtSeconds: resetAtSeconds });
      if (buckets.size >= cleanUpAtCount) removeFull(bucket.atMs / 1_000);
    },
  };
}

const cleanUpEvery = 1_000;
