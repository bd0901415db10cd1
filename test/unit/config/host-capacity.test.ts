import { expect, test } from 'vitest';
import { capacityFor } from '../../../config/host-capacity.ts';

test('a host holds as many sandboxes as its memory, and always one', () => {
  const giB = 1024 ** 3;
  expect(capacityFor(1 * giB)).toBe(1);
  expect(capacityFor(8 * giB)).toBe(3);
  expect(capacityFor(23.5 * giB)).toBe(10);
});
