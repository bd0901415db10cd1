import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPingTimer } from '../../../api/stream/ping-timer.ts';
import { limits } from '../../../core/limits.ts';

const { pingMs, pingCoalesceMs } = limits.stream;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Readers that connected at these times, and when each of them got its pings. */
async function pingReaders(connectedAtMs: number[]) {
  const pings = createPingTimer();
  const start = performance.now();
  const readers = [];
  for (const at of connectedAtMs) {
    await vi.advanceTimersByTimeAsync(start + at - performance.now());
    const pingedAtMs: number[] = [];
    const stop = pings.add(() => void pingedAtMs.push(Math.round(performance.now() - start)));
    readers.push({ at, pingedAtMs, stop });
  }
  return readers;
}

test('pings each reader within the interval, and never much earlier', async () => {
  const connectedAtMs = Array.from({ length: 1_000 }, (_, n) => n * 37);
  const readers = await pingReaders(connectedAtMs);
  await vi.advanceTimersByTimeAsync(4 * pingMs);
  for (const { at, pingedAtMs } of readers) {
    expect(pingedAtMs.length).toBeGreaterThanOrEqual(4);
    for (const [n, pingedAt] of pingedAtMs.entries()) {
      const sinceLastMs = pingedAt - (pingedAtMs[n - 1] ?? at);
      expect(sinceLastMs).toBeLessThanOrEqual(pingMs);
      expect(sinceLastMs).toBeGreaterThanOrEqual(pingMs - pingCoalesceMs);
    }
  }
});

test('has one timer for all readers, and none after the last has left', async () => {
  const readers = await pingReaders([0, 100, 200, 5_000]);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(pingMs);
  expect(vi.getTimerCount()).toBe(1);
  for (const { stop } of readers) stop();
  expect(vi.getTimerCount()).toBe(0);
  const pinged = readers.map(({ pingedAtMs }) => pingedAtMs.length);
  await vi.advanceTimersByTimeAsync(2 * pingMs);
  expect(readers.map(({ pingedAtMs }) => pingedAtMs.length)).toEqual(pinged);
});

test('a reader that leaves at its ping changes nothing for the others', async () => {
  const pings = createPingTimer();
  const calls: string[] = [];
  const stop = pings.add(() => {
    calls.push('first');
    stop();
    pings.add(() => void calls.push('third'));
  });
  pings.add(() => void calls.push('second'));
  await vi.advanceTimersByTimeAsync(pingMs);
  expect(calls).toEqual(['first', 'second']);
  await vi.advanceTimersByTimeAsync(pingMs);
  expect(calls.slice(2).sort()).toEqual(['second', 'third']);
});
