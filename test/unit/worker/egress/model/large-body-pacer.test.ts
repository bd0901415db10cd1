import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { modelLimits } from '../../../../../core/model/model-limits.ts';
import { createLargeBodyPacer } from '../../../../../worker/egress/model/large-body-pacer.ts';

const { largeBodyBytes } = modelLimits;

function occupy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a run that sends large bodies leaves most of the time to others', async () => {
  const pace = createLargeBodyPacer();
  const startedAt = performance.now();
  const parsed = Array.from({ length: 4 }, (_, index) =>
    pace(largeBodyBytes + 1, () => (occupy(20), index)),
  );
  let turnsOfOthers = 0;
  const others = (async () => {
    for (; turnsOfOthers < 10; turnsOfOthers += 1) await sleep(5);
  })();
  expect(await Promise.all(parsed)).toEqual([0, 1, 2, 3]);
  // Three delays of three times twenty milliseconds, and the time of parsing four bodies.
  expect(performance.now() - startedAt).toBeGreaterThan(4 * 20 + 3 * 55);
  expect(turnsOfOthers).toBe(10);
  await others;
});

test('bodies up to the bound are parsed at once, also beside large ones', async () => {
  const pace = createLargeBodyPacer();
  const order: string[] = [];
  const large = [1, 2].map(() => pace(largeBodyBytes + 1, () => (occupy(20), order.push('large'))));
  await large[0];
  await pace(largeBodyBytes, () => order.push('small'));
  await Promise.all(large);
  expect(order).toEqual(['large', 'small', 'large']);
});

test('a body that cannot be parsed does not stop the next one', async () => {
  const pace = createLargeBodyPacer();
  const failed = pace(largeBodyBytes + 1, () => {
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await pace(largeBodyBytes + 1, () => 'yes')).toBe('yes');
});
