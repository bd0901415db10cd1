import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { initialAgentState } from '../../../../../core/agent/agent-state.ts';
import type { LeaseRenewal } from '../../../../../systems/postgres/log/lease.ts';
import { takeLease } from '../../../../../worker/sandbox/output/lease.ts';

const leaseMs = 15_000;
const logger = pino({ enabled: false });
const taken = { token: 1, generation: 1, byteOffset: 0, lastSeq: 0, agentState: initialAgentState };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('a lease is renewed on other connections while some hang, with at most three pending renewals', async () => {
  const hanging: (() => void)[] = [];
  let answered = 0;
  let isHung = true;
  const frames = {
    takeLease: async () => taken,
    renewLease: () => {
      if (isHung) {
        return new Promise<LeaseRenewal>((_, reject) => {
          hanging.push(() => reject(new Error('gave up')));
        });
      }
      answered += 1;
      return Promise.resolve('renewed' as const);
    },
  };
  const lost = vi.fn();
  const lease = await takeLease({ frames, owner: 'h', leaseMs, logger }, 'run-1', lost);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(hanging).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(hanging).toHaveLength(3);
  isHung = false;
  hanging[0]?.();
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(answered).toBe(3);
  expect(lost).not.toHaveBeenCalled();
  lease?.release();
});

/** A lease, with a function that replaces its renewal in Postgres. */
async function heldLease(renewLease: () => Promise<LeaseRenewal>) {
  const renewals = vi.fn(renewLease);
  const frames = { takeLease: async () => taken, renewLease: renewals };
  const lost = vi.fn();
  const lease = await takeLease({ frames, owner: 'h', leaseMs, logger }, 'run-1', lost);
  if (lease === null) throw new Error('it was not acquired');
  return { lease, renewals, lost };
}

test('a lost lease is never confirmed again, and its loss is reported once', async () => {
  const { lease, renewals, lost } = await heldLease(async () => 'lost');
  expect(await Promise.all([lease.confirm(), lease.confirm()])).toEqual([false, false]);
  renewals.mockResolvedValue('renewed');
  expect(await lease.confirm()).toBe(false);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(renewals).toHaveBeenCalledTimes(2);
  expect(lost).toHaveBeenCalledTimes(1);
});

test('a released lease is neither confirmed nor renewed, and leaves no timer', async () => {
  const { lease, renewals, lost } = await heldLease(async () => 'renewed');
  expect(await lease.confirm()).toBe(true);
  lease.release();
  expect(await lease.confirm()).toBe(false);
  expect(renewals).toHaveBeenCalledTimes(1);
  expect(lost).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a lease is kept while Postgres is unavailable', async () => {
  const { lease, lost } = await heldLease(() =>
    Promise.reject(new Error('Postgres is unavailable')),
  );
  expect(await lease.confirm()).toBe(true);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(await lease.confirm()).toBe(true);
  expect(lost).not.toHaveBeenCalled();
  lease.release();
});

test('a renewal that finds the storage quota used up is reported, and the lease is still held', async () => {
  const { lease, lost, renewals } = await heldLease(async () => 'over_quota');
  const overQuota = vi.fn();
  lease.onOverQuota(overQuota);
  expect(await lease.confirm()).toBe(true);
  expect(overQuota).toHaveBeenCalledOnce();
  renewals.mockResolvedValue('renewed');
  expect(await lease.confirm()).toBe(true);
  expect(overQuota).toHaveBeenCalledOnce();
  expect(lost).not.toHaveBeenCalled();
  lease.release();
});
