import { expect, test } from 'vitest';
import { parseCpuPressure, readCpuPressure } from '../../../../worker/host/cpu-pressure.ts';

const some = 'some avg10=81.24 avg60=2.50 avg300=0.84 total=1234567\n';
const full = 'full avg10=3.00 avg60=0.00 avg300=0.00 total=0\n';

test('the pressure is the share of the last 10 s in which some process waited', () => {
  expect(parseCpuPressure(some + full)).toBe(81.24);
  expect(parseCpuPressure(full + some)).toBe(81.24);
  expect(parseCpuPressure('some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n')).toBe(0);
});

test.each(['', full, 'some avg10=', 'some avg60=2.50'])('no pressure is read from "%s"', (text) => {
  expect(parseCpuPressure(text)).toBeNull();
});

test('the pressure is unknown if the kernel has no such file', () => {
  expect(readCpuPressure('/nonexistent/cpu')).toBeNull();
});
