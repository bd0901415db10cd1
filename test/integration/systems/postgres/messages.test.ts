import { describe, expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { giveMessage, storeMessage, untilWaiting } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const messages = () => createMessageStore(database.pool);

const store = (runId: string) => storeMessage(database.pool, runId);
const give = ({ runId }: Run) => giveMessage(database.pool, runId);
const end = ({ runId }: Run) =>
  createRunStore(database.pool, testSealer).endRun({
    runId,
    cause: 'stopped_by_api',
    detail: null,
    exitCode: null,
  });

async function countOf(table: 'session_messages' | 'message_files' | 'frames', of: string) {
  const column = { session_messages: 'id', message_files: 'message_id', frames: 'run_id' }[table];
  const { rows } = await database.pool.query(`select from ${table} where ${column} = $1`, [of]);
  return rows.length;
}

describe('messages that were not signalled to a workflow', () => {
  const untold = async (of: Run[], olderThanMs = 0) => {
    const found = await messages().unsignalled(olderThanMs);
    const runIds = of.map(({ runId }) => runId);
    return found
      .filter(({ run }) => runIds.includes(run.runId))
      .map(({ run, messageId }) => [run.workflowId, messageId]);
  };

  test('are found with their sessions, the oldest of each, until they were signalled', async () => {
    const [one, other] = [await scenario.session(), await scenario.session()];
    const [first, second] = [await store(one.runId), await store(one.runId)];
    const third = await store(other.runId);
    const found = await untold([one, other]);
    expect(found).toHaveLength(2);
    expect(found).toContainEqual([one.workflowId, first]);
    expect(found).toContainEqual([other.workflowId, third]);
    await messages().markSignalled(first);
    expect(await untold([one])).toEqual([[one.workflowId, second]]);
    await messages().markSignalled(second);
    expect(await untold([one])).toEqual([]);
  });

  test('are ignored until they reach a minimum age', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    expect(await untold([run], 60_000)).toEqual([]);
    const age = `update session_messages set created_at = created_at - interval '1 minute'
                 where id = $1`;
    await database.pool.query(age, [messageId]);
    expect(await untold([run], 60_000)).toEqual([[run.workflowId, messageId]]);
  });

  test('are listed until their turn ends', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    await give(run);
    expect(await untold([run])).toEqual([[run.workflowId, messageId]]);
    await end(run);
    expect(await untold([run])).toEqual([]);
  });
});

describe('the current message', () => {
  const present = ({ runId }: Run) => messages().currentMessage(runId);

  test('is the one that an agent received, until its turn has ended, and no queued one', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    expect(await present(run)).toBeNull();
    await give(run);
    await store(run.runId);
    expect(await present(run)).toBe(messageId);
    expect(await present(await scenario.session())).toBeNull();
    await database.pool.query(
      'update session_messages set ended_at = db_clock(), exit_code = 0 where id = $1',
      [messageId],
    );
    expect(await present(run)).toBeNull();
  });

  test("is kept between two sandboxes, and is none after the session's end", async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    await give(run);
    await createTurnStore(database.pool).releaseSandbox(run.runId, 1);
    expect(await present(run)).toBe(messageId);
    await end(run);
    expect(await present(run)).toBeNull();
  });
});

describe('a message is withdrawn', () => {
  test('once, with its files; other messages of its session stay', async () => {
    const { runId } = await scenario.session();
    const [before, messageId] = [await store(runId), await store(runId)];
    await database.pool.query(
      `with b as (insert into blobs (sha256, size) values (sha256(''), 0) returning sha256)
       insert into message_files (message_id, path, sha256, size, mode, scope)
       select $1, 'a', sha256, 0, 420, 'run' from b`,
      [messageId],
    );
    expect(await messages().withdraw(runId, messageId)).toBe(true);
    expect(await countOf('session_messages', messageId)).toBe(0);
    expect(await countOf('message_files', messageId)).toBe(0);
    expect(await countOf('session_messages', before)).toBe(1);
    expect(await messages().withdraw(runId, messageId)).toBe(false);
  });

  test('not after it was delivered to an agent', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    await give(run);
    expect(await messages().withdraw(run.runId, messageId)).toBe(false);
    expect(await countOf('session_messages', messageId)).toBe(1);
  });

  test('not after its turn was announced as failed', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    await end(run);
    expect(await messages().withdraw(run.runId, messageId)).toBe(false);
    expect((await messages().ends([messageId])).get(messageId)).toMatchObject({ exitCode: 1 });
  });

  test('either before or after a concurrent end of its session, never both', async () => {
    const run = await scenario.session();
    const messageId = await store(run.runId);
    const ending = await database.pool.connect();
    try {
      await ending.query('begin');
      await ending.query('update run_logs set is_final = true where run_id = $1', [run.runId]);
      const taken = messages().withdraw(run.runId, messageId);
      await untilWaiting(database.pool);
      await ending.query(`select fail_turns($1, null, 'stopped_by_api')`, [run.runId]);
      await ending.query('commit');
      expect(await taken).toBe(false);
      expect(await countOf('frames', run.runId)).toBe(1);
      expect(await countOf('session_messages', messageId)).toBe(1);
    } finally {
      ending.release();
    }
  });
});
