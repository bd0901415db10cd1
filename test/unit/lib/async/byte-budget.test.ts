import { expect, onTestFinished, test, vi } from 'vitest';
import { createByteBudget } from '../../../../lib/async/byte-budget.ts';

function start(waitersMaxBytes?: number) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const bounds = { maxBytes: 100, ownerMaxBytes: 60, waitMs: 1_000 };
  const budget = createByteBudget({ ...bounds, ...(waitersMaxBytes && { waitersMaxBytes }) });
  const served: string[] = [];
  /** Notes when the bytes are reserved, or refused. */
  const reserve = async (name: string, owner: string, bytes: number) => {
    const release = await budget.reserve(owner, bytes);
    served.push(release === null ? `not ${name}` : name);
    return () => release?.();
  };
  return { reserve, served };
}

test('serves requests within the budget at once, and others in their order', async () => {
  const { reserve, served } = start();
  const release = await reserve('1', 'a', 60);
  await reserve('2', 'b', 40);
  void reserve('3', 'c', 60);
  void reserve('4', 'd', 10);
  await vi.advanceTimersByTimeAsync(900);
  expect(served).toEqual(['1', '2']);
  release();
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual(['1', '2', '3']);
  await vi.advanceTimersByTimeAsync(100);
  expect(served).toEqual(['1', '2', '3', 'not 4']);
});

test('lets an owner over its share wait without delaying others', async () => {
  const { reserve, served } = start();
  const release = await reserve('1', 'a', 60);
  void reserve('2', 'a', 1);
  await reserve('3', 'b', 40);
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual(['1', '3', '2']);
});

test('lets a small request of an owner overtake its large one, which gives up in time', async () => {
  const { reserve, served } = start();
  await reserve('1', 'a', 40);
  void reserve('2', 'a', 30);
  await reserve('3', 'a', 20);
  expect(served).toEqual(['1', '3']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(served).toEqual(['1', '3', 'not 2']);
});

test('serves those behind a request that gives up', async () => {
  const { reserve, served } = start();
  await reserve('1', 'a', 60);
  void reserve('2', 'b', 50);
  await vi.advanceTimersByTimeAsync(500);
  void reserve('3', 'c', 40);
  await vi.advanceTimersByTimeAsync(500);
  expect(served).toEqual(['1', 'not 2', '3']);
});

test('refuses at once what exceeds the bytes that may wait', async () => {
  const { reserve, served } = start(50);
  const release = await reserve('1', 'a', 60);
  void reserve('2', 'a', 50);
  void reserve('3', 'a', 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual(['1', 'not 3']);
  release();
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual(['1', 'not 3', '2']);
});
