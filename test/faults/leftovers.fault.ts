import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { script } from '../scripted-agent/lines.ts';
import { stackEnv } from '../support/stack-env.ts';
import { type Inspected, inspect } from './support/memory.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let redis: Redis;
let api: Inspected;
let worker: Inspected;
beforeAll(async () => {
  world = await startWorld({ env: { LOG_LEVEL: 'info' } });
  redis = connectRedis({ url: stackEnv.redisUrl, name: 'test', onError: () => undefined });
  [api, worker] = await Promise.all([inspect(world.service.api), inspect(world.service.worker)]);
});
afterAll(async () => {
  redis?.disconnect();
  await world?.stop();
});

const atOnce = 5;
const warmUps = 50;
const parts = 4;
const runs = parts * 50;
const patienceMs = 120_000;
/** The engine's own code grows for hundreds of runs, whatever a program does. */
const heapGrowthPerRunMaxBytes = 10 * 1024;

const prompt = script([
  { say: 'hello' },
  { lines: 50, seed: 4, longEvery: 10 },
  { write: { path: '/workspace/a/b.txt', content: 'x' } },
  { say: 'done' },
]);

/** Some end by themselves, some by being stopped, some by being deleted; each is watched. */
async function oneRun(n: number): Promise<void> {
  const { service } = world;
  const isCut = n % 5 < 2;
  const runId = await world.trigger(isCut ? script([{ say: 'hello' }, { hang: true }]) : prompt);
  const client = world.follow(runId, { name: `run ${n}`, hangUpEvery: 20 });
  if (isCut) await client.seenFrames(3, patienceMs);
  if (n % 5 === 0) await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  if (n % 5 === 1) await service.call('DELETE', `/runs/${runId}`);
  await world.expectInvariants(runId);
  client.leave();
}

async function makeRuns(count: number): Promise<void> {
  const waiting = Array.from({ length: count }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of waiting) await oneRun(n);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function connections() {
  const { instance, database } = world.service;
  const clients = String(await redis.client('LIST'));
  const text = `
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name <> 'test'`;
  const { rows } = await database.pool.query<{ count: number }>(text);
  return {
    redis: clients.split('\n').filter((line) => line.includes(`name=${instance}`)).length,
    postgres: rows[0]?.count ?? 0,
  };
}

const kept = () => ({
  sandboxFolders: readdirSync(join(world.service.dataDir, 'r')),
  socketFolders: readdirSync(join(world.service.dataDir, 's')),
});

async function memory() {
  return {
    apiHeap: await api.heap(),
    workerHeap: await worker.heap(),
    apiResident: api.residentBytes(),
    workerResident: worker.residentBytes(),
  };
}

it(`leaves nothing behind after ${runs} runs`, { timeout: 3_600_000 }, async () => {
  await makeRuns(warmUps);
  const before = {
    ...(await connections()),
    api: api.descriptors(),
    worker: worker.descriptors(),
  };
  const memories = [await memory()];
  for (let part = 0; part < parts; part += 1) {
    await makeRuns(runs / parts);
    memories.push(await memory());
  }

  expect(await world.service.sandboxes.list()).toEqual([]);
  expect(kept()).toEqual({ sandboxFolders: [], socketFolders: [] });
  await expect.poll(connections, { timeout: 60_000 }).toSatisfy(isAtMost(before));
  await expect.poll(() => api.descriptors(), { timeout: 60_000 }).toBeLessThanOrEqual(before.api);
  await expect
    .poll(() => worker.descriptors(), { timeout: 60_000 })
    .toBeLessThanOrEqual(before.worker);

  console.log(`after every ${runs / parts} runs:`, memories);
  expectFlat(memories.map(({ apiHeap }) => apiHeap));
  expectFlat(memories.map(({ workerHeap }) => workerHeap));
});

/** What a process needs differs from time to time; the least of it early and late does not. */
function expectFlat(heaps: number[]): void {
  const grown = Math.min(...heaps.slice(-2)) - Math.min(...heaps.slice(0, 2));
  expect(grown).toBeLessThan(runs * heapGrowthPerRunMaxBytes);
}

type Connections = Awaited<ReturnType<typeof connections>>;

const isAtMost = (before: Connections) => (now: Connections) =>
  now.redis <= before.redis && now.postgres <= before.postgres;

it('leaves nothing in Redis that does not go by itself', async () => {
  await oneRun(2);
  const keys = await redis.keys(`frs:${world.service.instance}:*`);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    const ttlMs = await redis.pttl(key);
    expect(ttlMs, key).toBeGreaterThan(0);
    expect(ttlMs, key).toBeLessThanOrEqual(limits.replayBufferAfterEndMs);
  }
});
