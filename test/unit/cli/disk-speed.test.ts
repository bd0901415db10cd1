import { expect, test } from 'vitest';
import { reserveProblem } from '../../../cli/doctor/checks/disk-speed.ts';

const giB = 1024 ** 3;

test('a reserve must hold what the disk writes in two seconds, and the advice is in whole GiB', () => {
  expect(reserveProblem(1.2 * giB, 2.4 * giB)).toBeNull();
  expect(reserveProblem(1.2 * giB, 2.4 * giB - 1)).toMatchObject({
    code: 'disk_reserve_small',
    message: expect.stringContaining('writes 2.4 GiB in 2 seconds'),
    advice: `Set DISK_RESERVE_BYTES to ${3 * giB} or more.`,
    isWarning: true,
  });
});
