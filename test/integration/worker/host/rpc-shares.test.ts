// How the projects of a host share the calls that it executes at a time.

import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createHostRpc } from '../../../../api/files/host-rpc.ts';
import type { HostCallKind, HostCallPayload } from '../../../../core/hosts/host-rpc.ts';
import { limits } from '../../../../core/limits.ts';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { sleep } from '../../../../lib/async/sleep.ts';
import { createHostRpcStore } from '../../../../systems/postgres/hosts/host-rpc-store.ts';
import { createNotifications } from '../../../../systems/redis/notifications.ts';
import { type RpcHandlers, serveHostRpc } from '../../../../worker/host/rpc-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let database: TestDatabase;
let redis: RedisFixture;
beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), openRedis()]);
});
afterAll(() => Promise.all([database.drop(), redis.close()]));

const { slots, pollMs } = limits.hostRpc;
const half = slots / 2;
/** Shorter than any call that waits for a slot until the API gives up. */
const promptMs = 5_000;

/** A host, and the API's calls to it. */
async function openHost(handlers: Partial<RpcHandlers>) {
  const hostId = `host-${randomUUID()}`;
  const stopping = new AbortController();
  const notifications = createNotifications(await redis.connect(), redis);
  const store = createHostRpcStore(database.pool);
  const deps = {
    ...{ hostId, store, notifications },
    handlers: { ...quickHandlers, ...handlers },
    logger: pino({ level: 'silent' }),
    runLogContext: async (of: string) => ({ runId: of, requestId: null }),
  };
  const served = serveHostRpc(deps, stopping.signal);
  onTestFinished(async () => {
    stopping.abort();
    await served;
    notifications.close();
  });
  const api = createHostRpc({ store, notifications, newId: randomUUID });
  return <K extends HostCallKind>(
    of: { projectId: string; runId?: string; timeoutMs?: number },
    kind: K,
    payload: HostCallPayload<K>,
  ) => {
    const { projectId, runId = randomUUID(), timeoutMs = 60_000 } = of;
    return api.call({ hostId, run: { projectId, runId }, kind, payload }, { timeoutMs });
  };
}

const quickHandlers: RpcHandlers = {
  store_file: async () => ({ outcome: 'missing' }),
  store_files: async () => ({ outcome: 'stored' }),
  write_files: async () => ({ outcome: 'written' }),
  answer_interaction: async () => ({ outcome: 'delivered' }),
};

/** Calls that last until they are released, and how many there are. */
function heldCalls() {
  const released = createDeferred<true>();
  const held: string[] = [];
  async function hold(runId: string): Promise<{ outcome: 'stored' }> {
    held.push(runId);
    await released.promise;
    return { outcome: 'stored' };
  }
  onTestFinished(() => released.resolve(true));
  return { held, hold, release: () => released.resolve(true) };
}

test('slow calls of one project delay no file, injection or answer of another', async () => {
  const { held, hold, release } = heldCalls();
  const call = await openHost({ store_files: (_payload, { runId }) => hold(runId) });
  const slow = Array.from({ length: 40 }, () => call({ projectId: 'slow' }, 'store_files', {}));
  await expect.poll(() => held.length).toBe(half);

  const other = { projectId: 'other', timeoutMs: promptMs };
  const responses = await Promise.all([
    call(other, 'store_file', { path: 'a' }),
    call(other, 'write_files', { files: [] }),
    call(other, 'answer_interaction', {}),
  ]);
  expect(responses.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
  await sleep(pollMs);
  expect(held).toHaveLength(half); // not one more
  release();
  await Promise.all(slow);
});

test('a project that holds no slot gets the last one, and others wait', async () => {
  const { held, hold, release } = heldCalls();
  const call = await openHost({ store_files: (_payload, { runId }) => hold(runId) });
  const several = (count: number, projectId: string) =>
    Array.from({ length: count }, () => call({ projectId }, 'store_files', {}));
  const calls: Promise<unknown>[] = [];
  let expected = 0;
  for (const [projectId, count] of Object.entries({ a: 8, b: 4, c: 2, d: 1 })) {
    calls.push(...several(2 * count, projectId));
    expected += count;
    await expect.poll(() => held.length).toBe(expected);
  }
  expect(expected).toBe(slots - 1);
  calls.push(...several(2, 'e'));
  await expect.poll(() => held.length).toBe(slots);
  calls.push(...several(1, 'f'));
  await sleep(pollMs);
  expect(held).toHaveLength(slots);
  release();
  await Promise.all(calls);
  expect(held).toHaveLength(2 * (slots - 1) + 2 + 1);
});

test('a call that had to wait starts as soon as another one has ended', async () => {
  let atOnce = 0;
  const call = await openHost({
    async store_file() {
      atOnce += 1;
      await sleep(20);
      atOnce -= 1;
      return { outcome: 'missing' };
    },
  });
  const began = performance.now();
  const paths = Array.from({ length: 10 * half }, (_, n) => String(n));
  await Promise.all(paths.map((path) => call({ projectId: 'one' }, 'store_file', { path })));
  expect(atOnce).toBe(0);
  expect(performance.now() - began).toBeLessThan(10 * pollMs);
});

/** A host that takes this long to list the files of a run, and when it began to. */
async function openListingHost(listMs: number) {
  const startedAt: number[] = [];
  const call = await openHost({
    async store_files() {
      startedAt.push(performance.now());
      await sleep(listMs);
      return { outcome: 'stored' };
    },
  });
  const of = { projectId: 'one', runId: randomUUID() };
  return { startedAt, list: () => call(of, 'store_files', {}) };
}

test('lists of one run’s files are read once for all that wait, and no two at a time', async () => {
  const { startedAt, list } = await openListingHost(300);
  const first = list();
  await expect.poll(() => startedAt.length).toBe(1);
  const more = Array.from({ length: 40 }, list);
  const responses = await Promise.all([first, ...more]);
  expect(responses.every(({ outcome }) => outcome === 'done')).toBe(true);
  expect(startedAt.length).toBeLessThanOrEqual(3); // one more if a request came late
});

test('a list is read for at most half of the time', async () => {
  const { startedAt, list } = await openListingHost(500);
  await list();
  await list();
  const [first = 0, second = 0] = startedAt;
  expect(second - first).toBeGreaterThan(950);
});

test('a handler is notified when the API no longer waits', async () => {
  const stopped = createDeferred<true>();
  const call = await openHost({
    async store_files(_payload, { signal }) {
      await sleep(60_000, signal);
      stopped.resolve(true);
      throw new Error('stopped'); // a result may still arrive in time
    },
  });
  const of = { projectId: 'one', timeoutMs: 300 };
  expect(await call(of, 'store_files', {})).toEqual({ outcome: 'timeout' });
  await expect.poll(stopped.value).toBe(true);
});
