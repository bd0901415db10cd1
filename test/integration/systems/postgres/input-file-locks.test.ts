// Changing several of a run's input files locks them in a fixed order, so that no two changes
// deadlock: while one file is locked elsewhere, those before it are locked and those after it free.

import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createBlobStore } from '../../../../systems/postgres/files/blob-store.ts';
import { createFlowFileStore } from '../../../../systems/postgres/files/flow-file-store.ts';
import type { InputFiles } from '../../../../systems/postgres/files/input-files.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { giveMessage, storeMessage, untilWaiting } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const content = Buffer.from('hello');
const sha256 = createHash('sha256').update(content).digest('hex');
const files = ['c', 'a', 'B'].map((path) => ({ path, sha256, size: content.length, mode: 0o644 }));
const input: InputFiles = {
  files: files.map((file) => ({ ...file, scope: 'run' })),
  classifiedBy: { sha256: null },
};

const { database, scenario } = setupScenario();
const turns = () => createTurnStore(database.pool);
let held: SandboxLease;
let give: () => Promise<unknown>;
beforeAll(() =>
  createBlobStore(database.pool).put(Readable.from([content]), { sha256, size: content.length }),
);
/** A session with a turn, and files pending for the next one. */
beforeEach(async () => {
  const { runId } = await scenario.session();
  await storeMessage(database.pool, runId);
  held = await giveMessage(database.pool, runId);
  const { flowId } = scenario.flow;
  give = () => createFlowFileStore(database.pool).add({ runId, flowId, arePending: true }, input);
  await give();
});

/** The unlocked files, while `change` waits for `a`. */
async function freeDuring(change: () => Promise<unknown>): Promise<string[]> {
  const { pool } = database;
  const holding = await pool.connect();
  try {
    await holding.query('begin');
    const text = `select path from input_files where run_id = $1`;
    await holding.query(`${text} and path = 'a' for no key update`, [held.runId]);
    const changed = change();
    await untilWaiting(pool);
    const { rows } = await pool.query<{ path: string }>(`${text} for no key update skip locked`, [
      held.runId,
    ]);
    await holding.query('commit');
    await changed;
    return rows.map(({ path }) => path);
  } finally {
    holding.release();
  }
}

test('files that are added again', async () => {
  expect(await freeDuring(give)).toEqual(['c']);
});

test('files that a sandbox has received', async () => {
  expect(await freeDuring(() => turns().markFilesWritten(held, files))).toEqual(['c']);
  expect(await turns().markFilesWritten(held, files)).toBe(0);
});

test('files that come with a message', async () => {
  const messageId = randomUUID();
  const message = { runId: held.runId, messageId, clientMessageId: null, text: 'Hello.' };
  const { flowId } = scenario.flow;
  await createMessageStore(database.pool).storeWithFiles(message, { flowId, input });
  expect(await freeDuring(() => turns().pendingFiles(held, messageId))).toEqual(['c']);
});
