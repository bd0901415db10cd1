// A log may be packed while it is read, between any two statements of a reader.

import { beforeEach, expect, test } from 'vitest';
import type { Frame, StoredFrame } from '../../../../core/frames/frame.ts';
import { packingLimits } from '../../../../core/frames/packing-limits.ts';
import type { Db } from '../../../../systems/postgres/client/pool.ts';
import { packLog } from '../../../../systems/postgres/log/pack-log.ts';
import { readFrames } from '../../../../systems/postgres/log/read-frames.ts';
import { failingPool } from './hooked-pool.ts';
import { chat, output, useFrameLog } from './use-frame-log.ts';

const { database, run, frames, runs } = useFrameLog();

const chunks = 3;
const length = (chunks - 1) * packingLimits.chunkFrames + 7;
const log: Frame[] = Array.from({ length }, (_, n) => (n % 2 === 0 ? output(`${n}\n`) : chat(n)));
const orders = ['asc', 'desc'] as const;
type Order = (typeof orders)[number];

let stored: StoredFrame[] = [];
beforeEach(async () => {
  const { runId } = run;
  await frames().appendOwn({ runId, frames: log });
  await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  stored = await frames().read(runId, { order: 'asc', limit: length });
  expect(stored).toHaveLength(length);
});

const inOrder = (all: StoredFrame[], order: Order): StoredFrame[] =>
  order === 'asc' ? all : all.toReversed();

/** Reads the whole log as a client that continues after the last frame of each page. */
async function readPages(order: Order, limit: number): Promise<StoredFrame[]> {
  const all: StoredFrame[] = [];
  for (;;) {
    const seq = all.at(-1)?.seq;
    const after = seq === undefined ? {} : order === 'asc' ? { afterSeq: seq } : { beforeSeq: seq };
    const page = await frames().read(run.runId, { order, limit, ...after });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

test('pages that are read while the log is packed have every frame once, in order', async () => {
  const packed = new AbortController();
  const packing = packLog(database.pool, run.runId).finally(() => packed.abort());
  const reader = async (order: Order, limit: number) => {
    do expect(await readPages(order, limit)).toEqual(inOrder(stored, order));
    while (!packed.signal.aborted);
  };
  const readers = orders.flatMap((order) => [999, length].map((size) => reader(order, size)));
  await Promise.all([packing, ...readers]);
  expect(await packing).toBe(chunks);
});

async function packChunk(): Promise<void> {
  const pool = failingPool(database.pool, /insert into packed_frames/, 2);
  await packLog(pool, run.runId).catch(() => undefined);
}

/** Packs one more chunk before each statement of a reader. */
const packingDb = {
  async query(text: string, values: unknown[]) {
    await packChunk();
    return database.pool.query(text, values);
  },
} as unknown as Db;

test.each(orders)(
  'a page in order %s is complete if a chunk is packed before each statement',
  async (order) => {
    await packChunk();
    await packChunk();
    const page = await readFrames(packingDb, run.runId, { order, limit: length });
    expect(page).toEqual(inOrder(stored, order));
    const text = 'select from packed_frames where run_id = $1';
    expect((await database.pool.query(text, [run.runId])).rowCount).toBe(chunks);
  },
);
