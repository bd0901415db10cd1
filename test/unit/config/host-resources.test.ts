import { expect, test } from 'vitest';
import { capacityFor } from '../../../config/host-resources.ts';

test('a host has as many slots as its memory allows, and at least one', () => {
  const giB = 1024 ** 3;
  expect(capacityFor(1 * giB)).toBe(1);
  expect(capacityFor(8 * giB)).toBe(2);
  expect(capacityFor(10 * giB)).toBe(3); // as docs/operate.md says: 4 GiB, and 2 per sandbox
  expect(capacityFor(23.5 * giB)).toBe(9);
});
