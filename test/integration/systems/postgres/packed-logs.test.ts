// Packing changes how the log of an ended run is stored, but nothing that a reader sees.

import { beforeEach, expect, test } from 'vitest';
import type { Frame } from '../../../../core/frames/frame.ts';
import { packingLimits } from '../../../../core/frames/packing-limits.ts';
import { createProjectStore } from '../../../../systems/postgres/accounts/project-store.ts';
import { packLog } from '../../../../systems/postgres/log/pack-log.ts';
import type { FrameQuery } from '../../../../systems/postgres/log/read-frames.ts';
import type { Unpurged } from '../../../../systems/postgres/maintenance/purge-together.ts';
import { createRetentionStore } from '../../../../systems/postgres/maintenance/retention-store.ts';
import { testSealer } from '../../../support/database.ts';
import { failingPool, hookedPool } from './hooked-pool.ts';
import { output, useFrameLog } from './use-frame-log.ts';

const { database, run, frames, runs } = useFrameLog();
const { chunkFrames, chunkBytes } = packingLimits;

/** No log of an earlier test is packed. */
beforeEach(() => database.pool.query('update run_logs set unpacked_since = null'));

/** The clock of the database has milliseconds, so a run may have ended at this moment. */
const now = -1_000;
const retention = () => createRetentionStore(database.pool);
const pack = (unpacked?: Unpurged) => retention().packLogs(now, unpacked);
/** Its connection is lost before this chunk is stored. */
const failing = (chunk: number) => failingPool(database.pool, /insert into packed_frames/, chunk);
const rowsFor = async (text: string) => (await database.pool.query(text, [run.runId])).rows;
const rowsOf = async (table: string) =>
  (await rowsFor(`select count(*) as n from ${table} where run_id = $1`))[0].n as number;

const chat = (text: string): Frame => ({
  ...{ event: 'assistant', channel: 'chat', data: JSON.stringify({ text }) },
});
const other: Frame = { event: 'system', channel: 'other', data: '{ "a":  "\\u0000\\n\\"" }' };
/** Text of all kinds, many small frames, and large ones in a row. */
const log: Frame[] = [
  ...[output('one\n'), chat('ü 漢 🙂 \u2028'), other, output('')],
  ...Array.from({ length: chunkFrames + 50 }, (_, n) =>
    n % 3 === 0 ? output(`${n}\n`) : n % 3 === 1 ? chat(`${n}`) : other,
  ),
  ...[chat('x'.repeat(chunkBytes)), other, chat('y'.repeat(chunkBytes)), output('end\n')],
];

/** All of its small frames but the last fit into two; the large ones end a row each. */
const chunks = 4;

async function writeAndEnd(written: Frame[] = log): Promise<void> {
  await frames().appendOwn({ runId: run.runId, frames: written });
  await end();
}

const end = () =>
  runs().endRun({ runId: run.runId, cause: 'completed', detail: null, exitCode: 0 });

const bounds = [
  {},
  { afterSeq: 3 },
  { beforeSeq: chunkFrames + 3 },
  { afterSeq: chunkFrames - 9, beforeSeq: chunkFrames + 9 },
  { afterSeq: 10 * chunkFrames },
];
const sizes = [{ limit: 1 }, { limit: 40 }, { limit: 9_999, maxBytes: 2_000 }];
const orders = ['asc', 'desc'] as const;
const pages: FrameQuery[] = orders.flatMap((order) =>
  ([undefined, 'output', 'chat'] as const).flatMap((channel) =>
    bounds.flatMap((between) =>
      sizes.map((size) => ({ order, ...between, ...size, ...(channel && { channel }) })),
    ),
  ),
);
const queries = [...orders.map((order) => ({ order, limit: 9_999 })), ...pages];

async function readAll() {
  const read = await Promise.all(queries.map((wanted) => frames().read(run.runId, wanted)));
  const tails = [10, 500, 1e6].map((maxBytes) =>
    frames().renderedTail(run.runId, { maxBytes, uptoSeq: 1e9 }),
  );
  return { read, tails: await Promise.all(tails) };
}

test('every page and every tail is the same after packing', async () => {
  await writeAndEnd();
  const before = await readAll();
  expect(before.read[0]).toHaveLength(log.length);
  expect(await pack()).toBe(chunks);
  expect(await rowsOf('frames')).toBe(0);
  expect(await readAll()).toEqual(before);
});

test('a log that is packed up to the middle reads the same, and is packed further', async () => {
  await writeAndEnd();
  const before = await readAll();
  await expect(packLog(failing(2), run.runId)).rejects.toThrow();
  expect(await rowsOf('packed_frames')).toBe(1);
  expect(await rowsOf('frames')).toBeGreaterThan(0);
  expect(await readAll()).toEqual(before);
  await pack();
  expect(await rowsOf('frames')).toBe(0);
  expect(await readAll()).toEqual(before);
});

test('a worker that dies between deleting frames and storing them packed loses none', async () => {
  await writeAndEnd([chat('a'), chat('b')]);
  const before = await readAll();
  await expect(packLog(failing(1), run.runId)).rejects.toThrow();
  expect([await rowsOf('frames'), await rowsOf('packed_frames')]).toEqual([2, 0]);
  expect(await readAll()).toEqual(before);
});

test('frames that are removed while they are packed leave the log as it is', async () => {
  await writeAndEnd([chat('a'), chat('b')]);
  const unpacked: Unpurged = new Map();
  const removing = hookedPool(database.pool, /delete from frames/, () =>
    database.pool.query('delete from frames where run_id = $1 and seq = 1', [run.runId]),
  );
  expect(await createRetentionStore(removing).packLogs(now, unpacked)).toBe(0);
  expect([...unpacked.keys()]).toEqual([run.runId]);
  expect([await rowsOf('frames'), await rowsOf('packed_frames')]).toEqual([1, 0]);
  expect(await pack()).toBe(1);
});

test('two workers that pack a log at once store it once', async () => {
  await writeAndEnd();
  const before = await readAll();
  const stored = await Promise.all([pack(new Map()), pack(new Map()), pack(new Map())]);
  expect(stored.reduce((sum, rows) => sum + rows, 0)).toBe(chunks);
  expect(await rowsOf('packed_frames')).toBe(chunks);
  expect(await readAll()).toEqual(before);
});

test('the log of an active run is not packed, and a second end packs nothing again', async () => {
  await frames().appendOwn({ runId: run.runId, frames: [chat('a')] });
  expect(await pack()).toBe(0);
  await end();
  expect(await retention().packLogs(60_000)).toBe(0);
  expect(await pack()).toBe(1);
  await end();
  expect(await pack()).toBe(0);
});

test('a project stores the packed bytes, and none of them once the log is removed', async () => {
  const counted = async () => {
    const projects = createProjectStore(database.pool, testSealer);
    return (await projects.storedBytes(run.projectId)).logs;
  };
  const packed = async () => {
    const [{ bytes }] = await rowsFor(
      `select coalesce(sum(octet_length(data)), 0)::bigint as bytes
       from packed_frames where run_id = $1`,
    );
    return bytes as number;
  };
  const others = await counted();
  await writeAndEnd();
  const unpacked = (await counted()) - others;
  expect(unpacked).toBe(log.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0));
  await pack();
  expect((await counted()) - others).toBe(await packed());
  expect(await packed()).toBeLessThan(unpacked / 2);
  const removed = await othersThatEnded();
  while ((await retention().logs(now)) > 0);
  expect(await rowsOf('packed_frames')).toBe(0);
  expect((await counted()) - others).toBe(0 - removed);
  expect(await frames().read(run.runId, { order: 'asc', limit: 9 })).toEqual([]);
});

/** The bytes of the logs of other runs that have ended, which are removed too. */
async function othersThatEnded(): Promise<number> {
  const [{ bytes }] = await rowsFor(
    `select coalesce(sum(octet_length(data)), 0)::bigint as bytes from (
       select run_id, data::bytea from packed_frames
       union all select run_id, convert_to(data, 'UTF8') from frames
     ) f join runs r on r.id = f.run_id where r.ended_at is not null and r.id <> $1`,
  );
  return bytes as number;
}
