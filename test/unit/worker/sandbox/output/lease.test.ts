import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { initialAgentState } from '../../../../../core/agent/agent-state.ts';
import type {
  LeaseRenewal,
  LogLease,
  RenewalInBatch,
} from '../../../../../systems/postgres/log/lease.ts';
import { takeLease } from '../../../../../worker/sandbox/output/lease.ts';
import { createLeaseRenewer } from '../../../../../worker/sandbox/output/lease-renewer.ts';

const leaseMs = 15_000;
const logger = pino({ enabled: false });
const taken = { token: 1, generation: 1, byteOffset: 0, lastSeq: 0, agentState: initialAgentState };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

type Renew = (leases: readonly LogLease[]) => Promise<RenewalInBatch[]>;

/** Leases of one host, with functions that replace their renewals in Postgres. */
async function hold(
  runIds: string[],
  renewAll: Renew,
  renewOne: () => Promise<LeaseRenewal> = async () => 'renewed',
) {
  const [batches, renewals] = [vi.fn(renewAll), vi.fn(renewOne)];
  const frames = { takeLease: async () => taken, renewLease: renewals, renewLeases: batches };
  const leaseRenewer = createLeaseRenewer({ frames, times: { leaseMs }, logger });
  const lost: string[] = [];
  const deps = { frames, leaseRenewer, owner: 'h', leaseMs, logger };
  const leases = await Promise.all(
    runIds.map(async (runId) => {
      const lease = await takeLease(deps, runId, () => lost.push(runId));
      if (lease === null) throw new Error('it was not acquired');
      return lease;
    }),
  );
  const releaseAll = (): void => {
    for (const lease of leases) lease.release();
  };
  return { leases, batches, renewals, lost, releaseAll };
}

/** One lease, whose renewals all have this answer. */
async function holdOne(renew: () => Promise<LeaseRenewal>) {
  const held = await hold(['run-1'], async () => [await renew()], renew);
  const [lease] = held.leases;
  if (lease === undefined) throw new Error('it was not acquired');
  return { ...held, lease };
}

test('one statement per interval renews all leases of a host', async () => {
  const runIds = Array.from({ length: 50 }, (_, index) => `run-${index}`);
  const { batches, renewals, lost, releaseAll } = await hold(runIds, async (leases) =>
    leases.map(() => 'renewed'),
  );
  await vi.advanceTimersByTimeAsync(2 * leaseMs);
  expect(batches).toHaveBeenCalledTimes(6);
  expect(batches.mock.lastCall?.[0]).toEqual(runIds.map((runId) => ({ runId, token: 1 })));
  expect(renewals).not.toHaveBeenCalled();
  expect(lost).toEqual([]);
  releaseAll();
});

test('a lease that is lost among many is reported to its sandbox alone', async () => {
  const { leases, batches, lost, releaseAll } = await hold(['a', 'b', 'c'], async (held) =>
    held.map(({ runId }) => (runId === 'b' ? 'lost' : 'renewed')),
  );
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(lost).toEqual(['b']);
  expect(await Promise.all(leases.map((lease) => lease.confirm()))).toEqual([true, false, true]);
  const renewed = batches.mock.calls.map(([held]) => held.map(({ runId }) => runId).join());
  expect(renewed).toEqual(['a,b,c', 'a,c', 'a,c']);
  releaseAll();
});

test('a lease whose log is being written is renewed alone, and not twice at a time', async () => {
  const answers: ((renewal: LeaseRenewal) => void)[] = [];
  const answer = () => new Promise<LeaseRenewal>((resolve) => answers.push(resolve));
  const busy: Renew = async (held) => held.map(({ runId }) => (runId === 'a' ? 'busy' : 'renewed'));
  const { renewals, lost, releaseAll } = await hold(['a', 'b'], busy, answer);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(renewals.mock.calls).toEqual([['a', 1, leaseMs]]);
  answers[0]?.('renewed');
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  expect(renewals).toHaveBeenCalledTimes(2);
  answers[1]?.('lost');
  await vi.advanceTimersByTimeAsync(0);
  expect(lost).toEqual(['a']);
  releaseAll();
});

test('leases of busy logs are renewed alone, one after another, even if one fails', async () => {
  const answers: { resolve(): void; reject(): void }[] = [];
  const answer = () =>
    new Promise<LeaseRenewal>((resolve, reject) =>
      answers.push({
        resolve: () => resolve('renewed'),
        reject: () => reject(new Error('no answer')),
      }),
    );
  const busy: Renew = async (held) => held.map(() => 'busy');
  const { renewals, lost, releaseAll } = await hold(['a', 'b', 'c'], busy, answer);
  const renewedAlone = () => renewals.mock.calls.map((call: unknown[]) => call[0]);
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(renewedAlone()).toEqual(['a']);
  answers[0]?.reject();
  await vi.advanceTimersByTimeAsync(0);
  expect(renewedAlone()).toEqual(['a', 'b']);
  answers[1]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  answers[2]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(renewedAlone()).toEqual(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  expect(renewedAlone()).toEqual(['a', 'b', 'c', 'a']);
  expect(lost).toEqual([]);
  releaseAll();
});

test('leases are renewed on other connections while some hang, with at most three pending renewals', async () => {
  const hanging: (() => void)[] = [];
  let answered = 0;
  let isHung = true;
  const { lost, releaseAll } = await hold(['run-1'], () => {
    if (isHung) {
      return new Promise((_, reject) => {
        hanging.push(() => reject(new Error('gave up')));
      });
    }
    answered += 1;
    return Promise.resolve(['renewed']);
  });
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(hanging).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(hanging).toHaveLength(3);
  isHung = false;
  hanging[0]?.();
  await vi.advanceTimersByTimeAsync(leaseMs);
  expect(answered).toBe(3);
  expect(lost).toEqual([]);
  releaseAll();
});

test('a lost lease is never confirmed again, and its loss is reported once', async () => {
  const { lease, renewals, batches, lost } = await holdOne(async () => 'lost');
  expect(await Promise.all([lease.confirm(), lease.confirm()])).toEqual([false, false]);
  renewals.mockResolvedValue('renewed');
  expect(await lease.confirm()).toBe(false);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(renewals).toHaveBeenCalledTimes(2);
  expect(batches).not.toHaveBeenCalled();
  expect(lost).toHaveLength(1);
});

test('a released lease is neither confirmed nor renewed, and leaves no timer', async () => {
  const { lease, renewals, lost } = await holdOne(async () => 'renewed');
  expect(await lease.confirm()).toBe(true);
  lease.release();
  expect(await lease.confirm()).toBe(false);
  expect(renewals).toHaveBeenCalledTimes(1);
  expect(lost).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a lease that is released during a renewal is not reported as lost', async () => {
  let answer: (renewals: RenewalInBatch[]) => void = () => undefined;
  const { lost, releaseAll } = await hold(
    ['a', 'b'],
    () => new Promise((resolve) => (answer = resolve)),
  );
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  releaseAll();
  answer(['lost', 'lost']);
  await vi.advanceTimersByTimeAsync(0);
  expect(lost).toEqual([]);
});

test('all leases are kept while Postgres is unavailable', async () => {
  const unavailable = () => Promise.reject(new Error('Postgres is unavailable'));
  const { leases, lost, releaseAll } = await hold(['a', 'b'], unavailable, unavailable);
  const confirmAll = () => Promise.all(leases.map((lease) => lease.confirm()));
  expect(await confirmAll()).toEqual([true, true]);
  await vi.advanceTimersByTimeAsync(10 * leaseMs);
  expect(await confirmAll()).toEqual([true, true]);
  expect(lost).toEqual([]);
  releaseAll();
});

test('a renewal that finds the storage quota used up is reported, and the lease is still held', async () => {
  const { lease, lost, renewals } = await holdOne(async () => 'over_quota');
  const overQuota = vi.fn();
  lease.onOverQuota(overQuota);
  expect(await lease.confirm()).toBe(true);
  expect(overQuota).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(leaseMs / 3);
  expect(overQuota).toHaveBeenCalledTimes(2);
  renewals.mockResolvedValue('renewed');
  expect(await lease.confirm()).toBe(true);
  expect(overQuota).toHaveBeenCalledTimes(2);
  expect(lost).toEqual([]);
  lease.release();
});
