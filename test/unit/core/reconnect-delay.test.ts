import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import {
  delayAtClose,
  delayWhileOpen,
  evenShare,
  reconnectStepMs,
} from '../../../core/reconnect-delay.ts';
import { type TokenBucket, takeToken } from '../../../core/token-bucket.ts';

const rates = [1, 7, 59, 60, 61, 180, 600, limits.key.ratePerMinuteMax];

/** How many of the readers find no token, if the key's bucket was empty when they were closed. */
function refusals(perMinute: number, delaysMs: number[]): number {
  let bucket: TokenBucket = { parts: 0, atMs: 0 };
  let refused = 0;
  for (const nowMs of delaysMs.toSorted((a, b) => a - b)) {
    const answer = takeToken({ bucket, perMinute, nowMs });
    bucket = answer.bucket;
    if (!answer.allowed) refused += 1;
  }
  return refused;
}

function closedReaders(perMinute: number, random: () => number): number[] {
  const stepMs = reconnectStepMs(perMinute);
  return Array.from({ length: limits.stream.perKey }, (_, index) =>
    delayAtClose({ perMinute, afterMs: index * stepMs, random: random() }),
  );
}

describe('readers whose streams are closed', () => {
  test.each(rates)('all find a token of an empty bucket with %d per minute', (perMinute) => {
    const draws = [Math.random, () => 0, () => 1 - Number.EPSILON];
    for (const random of draws) {
      expect(refusals(perMinute, closedReaders(perMinute, random))).toBe(0);
    }
    const atOnce = Array.from({ length: limits.stream.perKey }, () => limits.stream.reconnectMinMs);
    expect(refusals(perMinute, atOnce)).toBeGreaterThan(0);
  });

  test('return within the time that their number and rate need', () => {
    const delaysMs = closedReaders(60, Math.random);
    expect(Math.min(...delaysMs)).toBeGreaterThanOrEqual(1_000);
    expect(Math.min(...delaysMs)).toBeLessThanOrEqual(1_500);
    expect(Math.max(...delaysMs)).toBeLessThanOrEqual(1_000 + 200 * 1_500);
  });
});

/** When readers return whose times were sent for this many readers. */
function brokenReaders(options: { perMinute: number; sharesOf: number[][]; known?: number }) {
  const { perMinute, sharesOf } = options;
  const shares = sharesOf.flat();
  const readers = options.known ?? shares.length;
  return shares.map((share) => delayWhileOpen({ perMinute, readers, share }));
}

/** Readers of several processes: each has its own offset, and uses the lowest numbers. */
function evenShares(readers: number, offsets: number[]): number[][] {
  return offsets.map((offset, n) => {
    const own = Math.floor((readers + n) / offsets.length);
    return Array.from({ length: own }, (_, number) => evenShare(number, offset));
  });
}

const processes = [[0.3], [0.3, 0.3], [0.1, 0.7], [0.9, 0.2, 0.4], [0.6, 0.6, 0.6, 0.6]];

describe('readers whose streams break at once', () => {
  // The bucket of a lower rate holds too few tokens for readers that return a little early.
  test.each(rates.filter((perMinute) => perMinute > 1))(
    'all find a token of an empty bucket with %d per minute',
    (perMinute) => {
      for (const offsets of processes) {
        for (let readers = 1; readers <= limits.stream.perKey; readers += 1) {
          const sharesOf = evenShares(readers, offsets);
          const refused = refusals(perMinute, brokenReaders({ perMinute, sharesOf }));
          expect({ readers, offsets, refused }).toEqual({ readers, offsets, refused: 0 });
        }
      }
    },
  );

  test('find one if a quarter more than they know of were opened', () => {
    for (const offsets of processes) {
      for (let known = 4; known <= limits.stream.perKey / 1.25; known += 1) {
        const sharesOf = evenShares(Math.floor(known * 1.25), offsets);
        const delaysMs = brokenReaders({ perMinute: 60, sharesOf, known });
        expect({ known, refused: refusals(60, delaysMs) }).toEqual({ known, refused: 0 });
      }
    }
  });

  test('find one if two of three were closed before, in any order', () => {
    const random = randomNumbers(7);
    let refused = 0;
    for (let broken = 0; broken < 500; broken += 1) {
      const sharesOf = evenShares(200, [random(), random()]);
      const open = sharesOf.map((shares) => shares.filter(() => random() < 1 / 3));
      refused += refusals(60, brokenReaders({ perMinute: 60, sharesOf: open }));
    }
    expect(refused).toBe(0);
  });

  test('would not find one without the lead, or with times for the readers before them', () => {
    const sharesOf = evenShares(60, [0.1, 0.7]);
    const together = brokenReaders({ perMinute: 60, sharesOf });
    const leadMs = (limits.stream.reconnectLeadTokens - 1) * 1_000;
    const random = randomNumbers(7);
    const drawn = Array.from({ length: 60 }, () => [random()]);
    const withoutLead = brokenReaders({ perMinute: 60, sharesOf: drawn }).map((ms) => ms - leadMs);
    expect(refusals(60, withoutLead)).toBeGreaterThan(0);
    const asOpened = sharesOf
      .flat()
      .map((share, n) => delayWhileOpen({ perMinute: 60, readers: n + 1, share }));
    expect(refusals(60, asOpened)).toBeGreaterThan(0);
    expect(refusals(60, together)).toBe(0);
  });
});

/** The same numbers from 0 to 1 in every run of the test. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe('the time of a reader whose stream is open', () => {
  const drawn = (perMinute: number, readers: number, share: number) =>
    delayWhileOpen({ perMinute, readers, share });

  test('is within the time that all readers of the key need', () => {
    expect([drawn(60, 100, 0), drawn(60, 100, 0.5), drawn(60, 100, 1)]).toEqual([
      ...[8_000, 83_000, 158_000],
    ]);
    expect(drawn(6_000, 100, 1) - drawn(6_000, 100, 0)).toBe(1_500);
    expect([1, 2, 7, 8, 9].map((readers) => drawn(60, readers, 0))).toEqual([
      ...[1_000, 2_000, 7_000, 8_000, 8_000],
    ]);
  });

  test('has a minimum and a maximum', () => {
    const { ratePerMinuteMax } = limits.key;
    expect(drawn(ratePerMinuteMax, 1, 0)).toBe(limits.stream.reconnectMinMs);
    expect(drawn(ratePerMinuteMax, 1, 1)).toBe(2 * limits.stream.reconnectMinMs);
    expect(drawn(1, limits.stream.perKey, 1)).toBeLessThan(limits.stream.reconnectMaxMs);
    expect(drawn(1, 10 * limits.stream.perKey, 1)).toBe(limits.stream.reconnectMaxMs);
  });
});
