import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { script } from '../support/prompts.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { grownBy, type ObjectCounts } from './support/heap-snapshot.ts';
import { type Inspected, inspect, type Memory } from './support/memory.ts';
import { type RedisState, readRedisState } from './support/redis-state.ts';

let fixture: FaultFixture;
let redis: RedisState;
let api: Inspected;
let worker: Inspected;
beforeAll(async () => {
  fixture = await startFaultFixture({ env: { LOG_LEVEL: 'info' } });
  redis = readRedisState(fixture.service.instance);
  [api, worker] = await Promise.all([
    inspect(fixture.service.api),
    inspect(fixture.service.worker),
  ]);
});
afterAll(async () => {
  redis?.close();
  await fixture?.stop();
});

const atOnce = 5;
const warmUps = 50;
const parts = 8;
const runs = parts * 25;
const timeoutMs = 120_000;
const countedRuns = 100;
/** The JavaScript engine's code grows for hundreds of runs, in any program. */
const heapGrowthMaxBytes = runs * 10 * 1024;
/** Three times the observed value. A leak per run is found by its count, however small it is. */
const residentGrowthMaxBytes = 2 * 1024 * 1024;

const prompt = script([
  { say: 'hello' },
  { lines: 50, seed: 4, longEvery: 10 },
  { write: { path: '/workspace/a/b.txt', content: 'x' } },
  { say: 'done' },
]);

/** Some end on their own, some are stopped, some are deleted; each has a reader. */
async function oneRun(n: number): Promise<void> {
  const { service } = fixture;
  const isCut = n % 5 < 2;
  const runId = await fixture.trigger(isCut ? script([{ say: 'hello' }, { hang: true }]) : prompt);
  const client = fixture.follow(runId, { name: `run ${n}`, disconnectEvery: 20 });
  if (isCut) await client.untilFrames(3, timeoutMs);
  if (n % 5 === 0) await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  if (n % 5 === 1) await service.call('DELETE', `/runs/${runId}`);
  await fixture.expectInvariants(runId);
  client.leave();
}

async function makeRuns(count: number): Promise<void> {
  const waiting = Array.from({ length: count }, (_, n) => n).values();
  const work = async (): Promise<void> => {
    for (const n of waiting) await oneRun(n);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** The service's connections in its servers. */
async function connections() {
  const text = `
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name <> 'test'`;
  const { rows } = await fixture.service.database.pool.query<{ count: number }>(text);
  return { redis: await redis.connections(), postgres: rows[0]?.count ?? 0 };
}

/**
 * All files in its data folder, without process logs and the empty parents of sandboxes and
 * sockets.
 */
const keptFiles = () =>
  readdirSync(fixture.service.dataDir, { recursive: true })
    .map(String)
    .filter((path) => !path.endsWith('.log') && path !== 'r' && path !== 's')
    .sort();

it(`leaves nothing behind after ${runs} runs`, { timeout: 3_600_000 }, async () => {
  const untouched = {
    keys: await redis.keys(),
    channels: await redis.channels(),
    files: keptFiles(),
  };
  await makeRuns(warmUps);
  const before = {
    ...(await connections()),
    api: api.descriptors(),
    worker: worker.descriptors(),
  };
  const memories = { api: [await api.memory()], worker: [await worker.memory()] };
  for (let part = 0; part < parts; part += 1) {
    await makeRuns(runs / parts);
    memories.api.push(await api.memory());
    memories.worker.push(await worker.memory());
  }

  expect(await fixture.service.sandboxes.list()).toEqual([]);
  expect(keptFiles()).toEqual(untouched.files);
  await expect.poll(connections, { timeout: 60_000 }).toSatisfy(isAtMost(before));
  await expect.poll(redis.channels, { timeout: 60_000 }).toEqual(untouched.channels);
  await expect.poll(() => api.descriptors(), { timeout: 60_000 }).toBeLessThanOrEqual(before.api);
  await expect
    .poll(() => worker.descriptors(), { timeout: 60_000 })
    .toBeLessThanOrEqual(before.worker);

  expect(await redis.keys(), 'keys for late readers').not.toEqual(untouched.keys);
  await redis.letPass(Math.max(limits.replay.bufferAfterEndMs, limits.redis.acceptedTtlMs));
  expect(await redis.keys()).toEqual(untouched.keys);

  console.log(`after every ${runs / parts} runs:`, memories);
  expectFlat(memories.api);
  expectFlat(memories.worker);
});

/**
 * Memory readings vary; the lowest of several does not. Outside the heap, memory grows for several
 * hundred runs, up to the need of that many concurrent runs.
 */
function expectFlat(memories: Memory[]): void {
  const third = Math.floor(memories.length / 3);
  const early = leastOf(memories.slice(0, third));
  const later = leastOf(memories.slice(third, -third));
  const late = leastOf(memories.slice(-third));
  expect(late.heap - early.heap).toBeLessThan(heapGrowthMaxBytes);
  expect(late.resident - later.resident).toBeLessThan(residentGrowthMaxBytes);
}

const leastOf = (memories: Memory[]): Memory => ({
  heap: Math.min(...memories.map(({ heap }) => heap)),
  resident: Math.min(...memories.map(({ resident }) => resident)),
});

it(`keeps no object of ${countedRuns} runs`, { timeout: 1_800_000 }, async () => {
  const both = () => Promise.all([api.objects(), worker.objects()]);
  await makeRuns(warmUps);
  const [apiBefore, workerBefore] = await both();
  await makeRuns(countedRuns);
  const [apiBetween, workerBetween] = await both();
  await makeRuns(countedRuns);
  const [apiAfter, workerAfter] = await both();
  expect(leaked(apiBefore, apiBetween, apiAfter)).toEqual([]);
  expect(leaked(workerBefore, workerBetween, workerAfter)).toEqual([]);
});

/**
 * An object leaked per run would appear at least once for each, both times. Code that runs for the
 * first time, such as a metric's new label, adds objects once.
 */
function leaked(before: ObjectCounts, between: ObjectCounts, after: ObjectCounts) {
  const first = new Set(grownBy(countedRuns / 2, before, between).map(({ kind }) => kind));
  return grownBy(countedRuns / 2, between, after).filter(({ kind }) => first.has(kind));
}

type Connections = Awaited<ReturnType<typeof connections>>;

const isAtMost = (before: Connections) => (now: Connections) =>
  now.redis <= before.redis && now.postgres <= before.postgres;
