// Claiming a turn reports whether files may be pending for it, which saves a query if there are
// none.

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
const file = { path: 'a', sha256, size: content.length, mode: 0o644 };
const input: InputFiles = { files: [{ ...file, scope: 'run' }], classifiedBy: { sha256: null } };

const { database, scenario } = setupScenario();
const turns = () => createTurnStore(database.pool);
const messages = () => createMessageStore(database.pool);
let held: SandboxLease;
let messageId: string;
beforeAll(() =>
  createBlobStore(database.pool).put(Readable.from([content]), { sha256, size: content.length }),
);
/** A session whose first turn has ended. */
beforeEach(async () => {
  const { runId } = await scenario.session();
  messageId = await storeMessage(database.pool, runId);
  held = await giveMessage(database.pool, runId);
});

const endFirst = () => turns().rejectTurn(held, { messageId, reason: 'enough' });

async function filesMayWait(): Promise<boolean> {
  const claimed = await turns().claim(held);
  if (claimed.outcome !== 'turn') throw new Error(`not given: ${claimed.outcome}`);
  return claimed.filesMayWait;
}

const next = () => {
  return { runId: held.runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' };
};
const give = () =>
  createFlowFileStore(database.pool).add(
    { runId: held.runId, flowId: scenario.flow.flowId, arePending: true },
    input,
  );

test('a turn without files', async () => {
  await endFirst();
  await messages().store(next());
  expect(await filesMayWait()).toBe(false);
});

test('files of the claimed message only', async () => {
  await endFirst();
  await messages().storeWithFiles(next(), { flowId: scenario.flow.flowId, input });
  await messages().store(next());
  expect(await filesMayWait()).toBe(true);
});

test('files of a later message wait for its turn', async () => {
  await endFirst();
  await messages().store(next());
  await messages().storeWithFiles(next(), { flowId: scenario.flow.flowId, input });
  expect(await filesMayWait()).toBe(false);
});

test('files pending for the session, until the sandbox has them', async () => {
  await endFirst();
  await give();
  await messages().store(next());
  expect(await filesMayWait()).toBe(true);
  expect(await filesMayWait()).toBe(true);
  await turns().markFilesWritten(held, [file]);
  expect(await filesMayWait()).toBe(false);
});

test('reports pending files for a message that is stored during the claim', async () => {
  await endFirst();
  const holding = await database.pool.connect();
  try {
    await holding.query('begin');
    await holding.query('select from run_logs where run_id = $1 for update', [held.runId]);
    const claimed = filesMayWait();
    await untilWaiting(database.pool);
    await messages().storeWithFiles(next(), { flowId: scenario.flow.flowId, input });
    await holding.query('commit');
    expect(await claimed).toBe(true);
  } finally {
    holding.release();
  }
});
