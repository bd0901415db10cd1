import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { delayAtClose, delayWhileOpen, reconnectStepMs } from '../../../core/reconnect-delay.ts';
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

describe('the time of a reader whose stream is open', () => {
  const drawn = (perMinute: number, readers: number, random: number) =>
    delayWhileOpen({ perMinute, readers, random });

  test('is drawn from the time that all readers of the key need', () => {
    expect([drawn(60, 100, 0), drawn(60, 100, 0.5), drawn(60, 100, 1)]).toEqual([
      ...[1_000, 76_000, 151_000],
    ]);
    expect(drawn(6_000, 100, 1) - drawn(6_000, 100, 0)).toBe(1_500);
  });

  test('has a minimum and a maximum', () => {
    const { ratePerMinuteMax } = limits.key;
    expect(drawn(ratePerMinuteMax, 1, 0)).toBe(limits.stream.reconnectMinMs);
    expect(drawn(ratePerMinuteMax, 1, 1)).toBe(2 * limits.stream.reconnectMinMs);
    expect(drawn(1, limits.stream.perKey, 1)).toBeLessThan(limits.stream.reconnectMaxMs);
    expect(drawn(1, 10 * limits.stream.perKey, 1)).toBe(limits.stream.reconnectMaxMs);
  });
});
