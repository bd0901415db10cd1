import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createStartLimiter } from '../../../../../worker/sandbox/start/start-limiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function limiter({ cpus = 2 } = {}) {
  const pressure: { now: number | null } = { now: 0 };
  const waits: number[] = [];
  const log: string[] = [];
  const closing = new AbortController();
  const starts = createStartLimiter({
    cpus,
    cpuPressure: () => pressure.now,
    onPermitGranted: (waitedMs) => waits.push(waitedMs),
    closing: closing.signal,
  });
  const acquire = (key: string, isWakeUp = false): Promise<unknown> =>
    starts.acquire({ key, isWakeUp }).then(
      (admission) => log.push(`${key} ${admission}`),
      () => log.push(`${key} rejected`),
    );
  /** What happened since the last call. */
  const happened = async (): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(0);
    return log.splice(0);
  };
  return { starts, pressure, waits, closing, acquire, happened };
}

test('as many start at once as there are processors, and each release admits the next', async () => {
  const { starts, acquire, happened } = limiter();
  for (const key of ['a', 'b', 'c', 'd']) void acquire(key);
  expect(await happened()).toEqual(['a immediate', 'b immediate']);
  expect(starts.countWaiting()).toBe(2);
  starts.release('b');
  expect(await happened()).toEqual(['c delayed']);
  starts.release('b'); // its agent has ended after its first output
  expect(await happened()).toEqual([]);
  starts.release('a');
  expect(await happened()).toEqual(['d delayed']);
  expect(starts.countWaiting()).toBe(0);
});

test('a permit ends after 3 s, and its release after that admits no other start', async () => {
  const { starts, acquire, happened, waits } = limiter({ cpus: 1 });
  for (const key of ['a', 'b', 'c']) void acquire(key);
  expect(await happened()).toEqual(['a immediate']);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(await happened()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await happened()).toEqual(['b delayed']);
  starts.release('a');
  expect(await happened()).toEqual([]);
  expect(waits).toEqual([0, 3_000]);
});

test('under pressure of 80 % one starts at a time, and below it or without a measure all', async () => {
  const { starts, pressure, acquire, happened } = limiter();
  pressure.now = 80;
  for (const key of ['a', 'b', 'c', 'd', 'e']) void acquire(key);
  expect(await happened()).toEqual(['a immediate']);
  pressure.now = 79.99;
  starts.release('a');
  expect(await happened()).toEqual(['b delayed', 'c delayed']);
  pressure.now = 100;
  starts.release('b');
  expect(await happened()).toEqual([]);
  starts.release('c');
  expect(await happened()).toEqual(['d delayed']);
  pressure.now = null;
  void acquire('f');
  expect(await happened()).toEqual(['e delayed']);
});

test('a large host starts several at once under pressure', async () => {
  const { pressure, acquire, happened } = limiter({ cpus: 11 });
  pressure.now = 99;
  for (const key of ['a', 'b', 'c']) void acquire(key);
  expect(await happened()).toEqual(['a immediate', 'b immediate']);
});

test('a first start overtakes wake-ups that arrived less than 3 s before it', async () => {
  const { starts, acquire, happened } = limiter({ cpus: 1 });
  void acquire('first');
  void acquire('wake-up 1', true);
  await vi.advanceTimersByTimeAsync(2_000);
  void acquire('wake-up 2', true);
  await vi.advanceTimersByTimeAsync(999);
  void acquire('cold 1');
  await vi.advanceTimersByTimeAsync(1); // the permit of the first start ends
  expect(await happened()).toEqual(['first immediate', 'cold 1 delayed']);
  void acquire('cold 2');
  for (const key of ['cold 1', 'wake-up 1', 'cold 2']) starts.release(key);
  expect(await happened()).toEqual(['wake-up 1 delayed', 'cold 2 delayed', 'wake-up 2 delayed']);
});

test('a start that has waited for 2 min begins although no permit is free', async () => {
  const { acquire, happened } = limiter({ cpus: 1 });
  for (let nth = 0; nth < 50; nth += 1) void acquire(`${nth}`);
  await vi.advanceTimersByTimeAsync(119_999);
  expect(await happened()).toHaveLength(40);
  await vi.advanceTimersByTimeAsync(1);
  expect(await happened()).toHaveLength(10);
});

test('a stop ends the wait of its sandbox without a permit, also one that begins later', async () => {
  const { starts, acquire, happened, waits } = limiter({ cpus: 1 });
  for (const key of ['a', 'b', 'c']) void acquire(key);
  expect(await happened()).toEqual(['a immediate']);
  const stopped = createDeferred<true>();
  const stop = starts.bypass('b', () => stopped.promise);
  expect(await happened()).toEqual(['b delayed']);
  void acquire('b');
  expect(await happened()).toEqual(['b delayed']);
  starts.release('b');
  stopped.resolve(true);
  await stop;
  void acquire('b');
  expect(await happened()).toEqual([]);
  starts.release('a');
  starts.release('c');
  expect(await happened()).toEqual(['c delayed', 'b delayed']);
  expect(waits).toHaveLength(3);
});

test('a stop that fails leaves nothing behind', async () => {
  const { starts, acquire, happened } = limiter({ cpus: 1 });
  void acquire('a');
  await expect(starts.bypass('b', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  void acquire('b');
  expect(await happened()).toEqual(['a immediate']);
});

test('at shutdown every wait ends, and none begins', async () => {
  const { starts, acquire, happened, closing } = limiter({ cpus: 1 });
  for (const key of ['a', 'b', 'c']) void acquire(key);
  closing.abort(new Error('shutting down'));
  void acquire('d');
  expect((await happened()).sort()).toEqual([
    'a immediate',
    'b rejected',
    'c rejected',
    'd rejected',
  ]);
  expect(starts.countWaiting()).toBe(0);
});
