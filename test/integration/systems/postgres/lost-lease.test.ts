// A process that has lost the lease of a session's log can no longer write: each statement of a
// sandbox's host is executed with the former lease and with the current one.

import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { giveMessage, storeMessage } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const turns = () => createTurnStore(database.pool);
const sha256 = createHash('sha256').digest('hex');
const given = { path: 'given.txt', sha256, size: 0, mode: 0o644 };

let messageId: string;
let before: SandboxLease;
let now: SandboxLease;
/**
 * A message in progress, with a file pending for the next turn; its host has returned meanwhile.
 */
beforeEach(async () => {
  const { runId } = await scenario.session();
  messageId = await storeMessage(database.pool, runId);
  before = await giveMessage(database.pool, runId);
  const lease = await createFrameStore(database.pool).takeLease(runId, 'h-1', 60_000);
  now = { ...before, token: lease?.token ?? 0 };
  expect(now.token).toBeGreaterThan(before.token);
  await database.pool.query(
    `insert into blobs (sha256, size) values (decode($1, 'hex'), 0) on conflict do nothing`,
    [sha256],
  );
  await database.pool.query(
    `insert into input_files (run_id, path, sha256, size, mode, scope, modified_at, is_pending)
     values ($1, $2, decode($3, 'hex'), 0, $4, 'run', db_clock(), true)`,
    [runId, given.path, sha256, given.mode],
  );
});

const rowsOf = async (text: string): Promise<unknown[]> =>
  (await database.pool.query(text, [now.runId])).rows;
const filesLeft = () => rowsOf('select path, is_pending from input_files where run_id = $1');
const loggedEvents = async () =>
  (await rowsOf('select event from frames where run_id = $1 order by seq')).map(
    (row) => (row as { event: string }).event,
  );

test('the start of a sandbox is announced once, by the holder of the lease', async () => {
  expect(await turns().markStarted(before)).toBeNull();
  expect(await loggedEvents()).not.toContain('session_ready');
  expect(await turns().markStarted(now)).toHaveLength(2);
  expect(await turns().markStarted(now)).toBeNull();
  expect((await loggedEvents()).filter((event) => event === 'session_ready')).toHaveLength(1);
});

test('files of a message become pending only for the holder of the lease', async () => {
  await database.pool.query(
    `insert into message_files (message_id, path, sha256, size, mode, scope)
     values ($1, 'brought.txt', decode($2, 'hex'), 0, 420, 'run')`,
    [messageId, sha256],
  );
  const paths = async (held: SandboxLease) =>
    (await turns().pendingFiles(held, messageId)).map(({ path }) => path);
  expect(await paths(before)).not.toContain('brought.txt');
  expect(await filesLeft()).toEqual([{ path: given.path, is_pending: true }]);
  expect(await paths(now)).toEqual(['brought.txt', given.path]);
});

test('only the holder of the lease marks a file as written or discards it', async () => {
  expect(await turns().markFilesWritten(before, [given])).toBe(0);
  expect(await turns().discardFile(before, given)).toBe(0);
  expect(await filesLeft()).toEqual([{ path: given.path, is_pending: true }]);
  expect(await turns().markFilesWritten(now, [given])).toBe(1);
  expect(await filesLeft()).toEqual([{ path: given.path, is_pending: false }]);
  await database.pool.query('update input_files set is_pending = true where run_id = $1', [
    now.runId,
  ]);
  expect(await turns().discardFile(now, given)).toBe(1);
  expect(await filesLeft()).toEqual([]);
});

test('only the holder of the lease rejects a turn, and only once', async () => {
  const refusal = { messageId, reason: 'given.txt cannot be written' };
  await turns().rejectTurn(before, refusal);
  expect(await loggedEvents()).not.toContain('turn_end');
  await turns().rejectTurn(now, refusal);
  await turns().rejectTurn(now, refusal);
  expect((await loggedEvents()).filter((event) => event === 'turn_end')).toHaveLength(1);
});

test('the end of a superseded sandbox does not change its session', async () => {
  const { runId, generation, token } = now;
  const frames = createFrameStore(database.pool);
  expect(await frames.beginGeneration(runId, token, generation + 1)).toBe(true);
  const state = () =>
    rowsOf(`
      select r.status, r.holds_slot, r.host_id, l.lease_owner, m.ended_at, m.delivery_attempts
      from runs r join run_logs l on l.run_id = r.id join session_messages m on m.run_id = r.id
      where r.id = $1`);
  const inNext = await state();
  expect(await turns().releaseSandbox(runId, generation, 'exited')).toBe(false);
  expect(await state()).toEqual(inNext);
  expect(await turns().releaseSandbox(runId, generation + 1, 'exited')).toBe(true);
  expect(await state()).toMatchObject([{ host_id: null, lease_owner: null }]);
});
