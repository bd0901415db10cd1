import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type TokenBucket, takeToken } from '../../../core/token-bucket.ts';

const rates = fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.constantFrom(1, 7, 60, 59_999));

/** Makes calls at the given intervals. Returns the times of those that were allowed. */
function passed(perMinute: number, gapsMs: number[]): number[] {
  const times: number[] = [];
  let bucket: TokenBucket | null = null;
  let nowMs = 1_700_000_000_000;
  for (const gapMs of gapsMs) {
    nowMs += gapMs;
    const answer = takeToken({ bucket, perMinute, nowMs });
    bucket = answer.bucket;
    if (answer.allowed) times.push(nowMs);
  }
  return times;
}

describe('over any time', () => {
  test('allows at most one burst plus the refill', () => {
    const gaps = fc.array(fc.integer({ min: -50, max: 5_000 }), { maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), gaps, (perMinute, gapsMs) => {
        const times = passed(
          perMinute,
          gapsMs.map((gap) => Math.max(gap, 0)),
        );
        for (const [first, from] of times.entries()) {
          for (const [last, to] of times.entries()) {
            if (last < first) continue;
            const most = perMinute + Math.floor(((to - from) * perMinute) / 60_000);
            expect(last - first + 1).toBeLessThanOrEqual(most);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  test('never rejects a steady caller at the rate', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 500 }), (perMinute, calls) => {
        const gapMs = Math.ceil(60_000 / perMinute);
        expect(passed(perMinute, new Array<number>(calls).fill(gapMs))).toHaveLength(calls);
      }),
    );
  });

  test('refills nothing when the clock goes back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.integer({ min: -9e6, max: 0 })),
        (rate, gaps) => {
          expect(passed(rate, gaps).length).toBeLessThanOrEqual(rate);
        },
      ),
    );
  });
});

describe('an answer', () => {
  const at = 1_700_000_000_000;

  test('allows a burst of one minute and no more', () => {
    expect(passed(60, new Array<number>(61).fill(0))).toHaveLength(60);
    expect(passed(1, [0, 0])).toHaveLength(1);
  });

  test('has the remaining calls and the reset time', () => {
    const first = takeToken({ bucket: null, perMinute: 60, nowMs: at });
    expect(first).toMatchObject({ allowed: true, limit: 60, remaining: 59, retryAfterSeconds: 0 });
    expect(first.resetAtSeconds).toBe(at / 1_000 + 1);
  });

  test('has the exact retry time in seconds, at least 1', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 59_999 }), (perMinute, parts) => {
        const refused = takeToken({ bucket: { parts, atMs: at }, perMinute, nowMs: at });
        expect(refused.allowed).toBe(false);
        expect(refused.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        const nowMs = at + refused.retryAfterSeconds * 1_000;
        expect(takeToken({ bucket: refused.bucket, perMinute, nowMs }).allowed).toBe(true);
      }),
    );
  });

  test('never announces a full bucket too early', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 1e9 }), (perMinute, level) => {
        const parts = level % (perMinute * 60_000);
        const answer = takeToken({ bucket: { parts, atMs: at }, perMinute, nowMs: at });
        const nowMs = answer.resetAtSeconds * 1_000;
        expect(takeToken({ bucket: answer.bucket, perMinute, nowMs }).remaining).toBe(
          perMinute - 1,
        );
      }),
    );
  });
});
