import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createHostRpc, type HostRpc } from '../../../../api/files/host-rpc.ts';
import { limits } from '../../../../core/limits.ts';
import { createHostRpcStore } from '../../../../systems/postgres/hosts/host-rpc-store.ts';
import type { Redis } from '../../../../systems/redis/connect.ts';
import { createNotifications } from '../../../../systems/redis/notifications.ts';
import { type RpcHandlers, serveHostRpc } from '../../../../worker/host/rpc-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { lostRedis, openRedis, type RedisFixture } from '../../../support/redis-fixture.ts';

let database: TestDatabase;
let redis: RedisFixture;
beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), openRedis()]);
});
afterAll(() => Promise.all([database.drop(), redis.close()]));

const runId = randomUUID();
const missing: RpcHandlers['store_file'] = async () => ({ outcome: 'missing' });

async function api(connection?: Redis): Promise<HostRpc> {
  const notifications = createNotifications(connection ?? (await redis.connect()), redis);
  onTestFinished(notifications.close);
  const store = createHostRpcStore(database.pool);
  return createHostRpc({ store, notifications, newId: randomUUID });
}

/** A separate host; `end` is what its process does on a stop. */
async function host(
  options: { hostId?: string; connection?: Redis },
  store_file: RpcHandlers['store_file'],
  store_files: RpcHandlers['store_files'] = async () => ({ outcome: 'gone' }),
) {
  const { hostId = `host-${randomUUID()}`, connection = await redis.connect() } = options;
  const notifications = createNotifications(connection, redis);
  const stopping = new AbortController();
  const handlers: RpcHandlers = {
    store_file,
    store_files,
    write_files: async () => ({ outcome: 'written' }),
    answer_interaction: async () => ({ outcome: 'gone' }),
  };
  const store = createHostRpcStore(database.pool);
  const logger = pino({ level: 'silent' });
  const runLogContext = async (of: string) => ({ runId: of, requestId: null });
  const deps = { hostId, store, notifications, handlers, logger, runLogContext };
  const served = serveHostRpc(deps, stopping.signal);
  onTestFinished(() => {
    stopping.abort();
    notifications.close();
  });
  return { hostId, end: () => (stopping.abort(), served) };
}

const projectId = 'p-1';
const storeFileRequest = (hostId: string, path = 'a', run = { projectId, runId }) =>
  ({ hostId, run, kind: 'store_file', payload: { path } }) as const;
const sendRequest = (from: HostRpc, hostId: string, path?: string) =>
  from.call(storeFileRequest(hostId, path), { timeoutMs: 20_000 });

async function rows(): Promise<number> {
  const { rows: found } = await database.pool.query('select from host_rpc_requests');
  return found.length;
}

test('notifications deliver a request to its host and the response back', async () => {
  const received: unknown[] = [];
  const { hostId } = await host({}, async (payload, of) => {
    received.push({ payload, of });
    return { outcome: 'too_large', size: 7, limit: 6 };
  });
  const other = await host({}, () => Promise.reject(new Error('not mine')));
  const from = await api();
  const tookMs: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const began = performance.now();
    await sendRequest(from, hostId);
    tookMs.push(performance.now() - began);
  }
  expect(Math.min(...tookMs)).toBeLessThan(limits.hostRpc.pollMs / 2);
  const response = await sendRequest(from, hostId, 'dir/ä');
  const result = { outcome: 'too_large', size: 7, limit: 6 };
  expect(response).toEqual({ outcome: 'done', result });
  expect(received.at(-1)).toMatchObject({ payload: { path: 'dir/ä' }, of: { runId } });
  expect(await rows()).toBe(0);
  await other.end();
});

test('polls without Redis', async () => {
  const { hostId } = await host({ connection: lostRedis() }, missing);
  const response = await sendRequest(await api(lostRedis()), hostId);
  expect(response).toEqual({ outcome: 'done', result: { outcome: 'missing' } });
});

test('a request to an absent host times out, and the host does not find it later', async () => {
  const hostId = `host-${randomUUID()}`;
  const began = performance.now();
  const response = await (await api()).call(storeFileRequest(hostId), { timeoutMs: 300 });
  expect(response).toEqual({ outcome: 'timeout' });
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await rows()).toBe(0);
});

test('the next process handles a request that its predecessor died on', async () => {
  const hostId = `host-${randomUUID()}`;
  let started = 0;
  await host({ hostId }, () => ((started += 1), new Promise(() => undefined)));
  const request = sendRequest(await api(), hostId);
  await expect.poll(() => started).toBe(1);
  await host({ hostId }, missing);
  expect(await request).toEqual({ outcome: 'done', result: { outcome: 'missing' } });
  expect(started).toBe(1);
});

test('retries a handler that throws', async () => {
  let calls = 0;
  const { hostId } = await host({}, async () => {
    calls += 1;
    if (calls === 1) throw new Error('not yet');
    return { outcome: 'missing' };
  });
  const response = await sendRequest(await api(), hostId);
  expect(response).toEqual({ outcome: 'done', result: { outcome: 'missing' } });
  expect(calls).toBe(2);
});

test('purges requests that no caller fetched', async () => {
  const store = createHostRpcStore(database.pool);
  const { kind } = storeFileRequest('');
  const of = { projectId, runId, kind, payload: '{}', hostId: 'gone' };
  const left = { requestId: randomUUID(), ...of, ttlMs: 1 };
  await store.open(left);
  await expect.poll(rows).toBe(1);
  const { end } = await host({}, missing);
  await expect.poll(rows).toBe(0);
  await end();
});
