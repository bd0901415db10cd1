import { describe, expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { giveMessage, storeMessage } from './session-turns.ts';
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
