import { expect, it } from 'vitest';
import { msUntilSleep } from '../../../core/sessions/idle-deadline.ts';

const limits = { idleMs: 300, attendedIdleMs: 3_600 };

it.each([
  ['at once if no client was ever present', 300, null, 0],
  ['not before the idle time', 299, null, 1],
  ['the idle time after the last client left', 1_000, 100, 200],
  ['later while a client is present', 1_000, 0, 300],
  ['never later than the attended limit', 3_590, 0, 10],
  ['at the attended limit, even while a client is present', 3_600, 0, 0],
])('puts an idle session to sleep %s', (_, idleForMs, unattendedForMs, leftMs) => {
  expect(msUntilSleep({ idleForMs, unattendedForMs }, limits)).toBe(leftMs);
});
