import { expect, it } from 'vitest';
import { msUntilSleep } from '../../../core/sessions/idle-deadline.ts';

const limits = { idleMs: 300, attendedIdleMs: 3_600 };

it.each([
  ['at once where nobody was there', 300, null, 0],
  ['not a moment earlier', 299, null, 1],
  ['so long after somebody left', 1_000, 100, 200],
  ['later while somebody is there', 1_000, 0, 300],
  ['never later than the second limit', 3_590, 0, 10],
  ['at the second limit, whoever is there', 3_600, 0, 0],
])('puts an idle session to sleep %s', (_, idleForMs, unattendedForMs, leftMs) => {
  expect(msUntilSleep({ idleForMs, unattendedForMs }, limits)).toBe(leftMs);
});
