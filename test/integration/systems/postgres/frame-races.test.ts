// A spool of numbered lines and several tailers that each act as the only one. Despite their races
// and connections that the server closes, the log equals the spool.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Frame } from '../../../../core/frames/frame.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import { createFrameStore, type FrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';

let database: TestDatabase;
let pools: Pool[];
beforeAll(async () => {
  database = await createTestDatabase();
  pools = [0, 1].map((n) => createPool(database.url, { applicationName: `worker-${n}`, max: 10 }));
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

const newRunId = async () => (await (await createScenario(database.pool, testSealer)).run()).runId;
const lineAt = (offset: number): Frame => ({
  event: 'assistant',
  data: `{"line":${offset}}`,
  channel: 'chat',
});

interface Tailer {
  frames: FrameStore;
  runId: string;
  owner: string;
  spoolLength: number;
  fenced: () => void;
}

/** Takes the lease whenever possible and continues from the end of the log, batch by batch. */
async function tail({ frames, runId, owner, spoolLength, fenced }: Tailer): Promise<void> {
  for (;;) {
    const lease = await frames.takeLease(runId, owner, 10).catch(() => null);
    if (lease === null) await setTimeout(5);
    if (lease === null) continue;
    let at = lease.byteOffset;
    while (at < spoolLength) {
      const to = Math.min(at + 1 + (at % 7), spoolLength);
      const lines = Array.from({ length: to - at }, (_, i) => lineAt(at + i));
      const batch = { runId, token: lease.token, generation: 1, fromOffset: at, toOffset: to };
      const stored = await retried(() => frames.append({ ...batch, frames: lines, facts: {} }));
      if (stored.outcome === 'fenced') break;
      expect(stored).toMatchObject({ firstSeq: at + 1, lastSeq: to });
      at = to;
    }
    if (at === spoolLength) return;
    fenced();
  }
}

/** Retries the same batch, like a tailer that does not know whether it was stored. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      // The connection was closed; the next one may survive.
    }
  }
}

async function expectWholeLog(runId: string, spoolLength: number): Promise<void> {
  const frames = createFrameStore(database.pool);
  const stored = await frames.read(runId, { order: 'asc', limit: spoolLength + 100 });
  expect(stored.map((frame) => frame.seq)).toEqual(stored.map((_, i) => i + 1));
  expect(stored.map((frame) => frame.data)).toEqual(
    Array.from({ length: spoolLength }, (_, i) => lineAt(i).data),
  );
}

test('six tailers that take the lease from each other store every line once, in order', async () => {
  const runId = await newRunId();
  let fencedTimes = 0;
  const fenced = () => {
    fencedTimes += 1;
  };
  await Promise.all(
    Array.from({ length: 6 }, (_, n) => {
      const frames = createFrameStore(pools[n % 2] ?? database.pool);
      return tail({ frames, runId, owner: `host-${n % 3}`, spoolLength: 200, fenced });
    }),
  );
  await expectWholeLog(runId, 200);
  expect(fencedTimes).toBeGreaterThan(0);
});

test('while the server ends connections every line is stored once, in order', async () => {
  const runId = await newRunId();
  const kill = `
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'worker-%' and datname = current_database()`;
  const done = new AbortController();
  let kills = 0;
  const purge = async () => {
    while (!done.signal.aborted) {
      kills += (await database.pool.query(kill)).rowCount ?? 0;
      await setTimeout(60);
    }
  };
  const tails = Promise.all(
    pools.map((pool, n) => {
      const frames = createFrameStore(pool);
      return tail({ frames, runId, owner: `host-${n}`, spoolLength: 300, fenced: () => undefined });
    }),
  );
  await Promise.all([purge(), tails.finally(() => done.abort())]);
  await expectWholeLog(runId, 300);
  expect(kills).toBeGreaterThan(0);
});

test('of forty writers at the same offset one stores its batch, and the others learn of it', async () => {
  const runId = await newRunId();
  const [store] = pools.map((pool) => createFrameStore(pool));
  const lease = await store?.takeLease(runId, 'host', 60_000);
  const batch = { runId, token: lease?.token ?? 0, generation: 1, fromOffset: 0, toOffset: 3 };
  const same = { ...batch, frames: [lineAt(0), lineAt(1)], facts: {} };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      createFrameStore(pools[n % 2] ?? database.pool).append(same),
    ),
  );
  expect(answers).toEqual(Array.from({ length: 40 }, () => answers[0]));
  await expectWholeLog(runId, 2);
});

test('of forty concurrent requests for a free lease one succeeds', async () => {
  const runId = await newRunId();
  const leases = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      createFrameStore(pools[n % 2] ?? database.pool).takeLease(runId, `host-${n}`, 60_000),
    ),
  );
  expect(leases.filter((lease) => lease !== null)).toEqual([expect.objectContaining({ token: 1 })]);
});

test("the service's own frames interleave with those of a tailer without a gap", async () => {
  const runId = await newRunId();
  const own = async () => {
    const frames = createFrameStore(pools[1] ?? database.pool);
    const turnEnd = { event: 'turn_end', data: '{"own":true}', channel: 'chat' } as const;
    for (let i = 0; i < 50; i += 1) await frames.appendOwn({ runId, frames: [turnEnd] });
  };
  const agent = async () => {
    const frames = createFrameStore(pools[0] ?? database.pool);
    const lease = await frames.takeLease(runId, 'host', 60_000);
    for (let at = 0; at < 100; at += 1) {
      const batch = {
        runId,
        token: lease?.token ?? 0,
        generation: 1,
        fromOffset: at,
        toOffset: at + 1,
      };
      const stored = await frames.append({ ...batch, frames: [lineAt(at)], facts: {} });
      expect(stored.outcome).toBe('stored');
    }
  };
  await Promise.all([own(), agent()]);
  const stored = await createFrameStore(database.pool).read(runId, { order: 'asc', limit: 1_000 });
  expect(stored.map((frame) => frame.seq)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  const lines = stored.filter((frame) => frame.event === 'assistant').map((frame) => frame.data);
  expect(lines).toEqual(Array.from({ length: 100 }, (_, i) => lineAt(i).data));
});
