// Messages to sessions with a slot do not lock their project. No session gets a slot beyond the
// project's limit.

import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { useDatabase } from '../../../support/use-database.ts';
import { lockRow } from './lock-row.ts';
import { storeMessage, untilWaiting } from './session-turns.ts';

const database = useDatabase();
const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);
const projectOf = (maxConcurrentRuns: number): Promise<Scenario> =>
  createScenario(database.pool, testSealer, { project: { maxConcurrentRuns } });
const holdsSlot = async ({ runId }: Run) =>
  (await createRunStore(database.pool, testSealer).find(runId))?.holdsSlot;

const send = ({ runId }: Run) =>
  createMessageStore(database.pool).store({
    ...{ runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' },
  });

const endMessages = ({ runId }: Run) =>
  query(
    `update session_messages set ended_at = db_clock(), exit_code = 0
     where run_id = $1 and ended_at is null`,
    [runId],
  );

/** A session with a slot and without work. */
async function idleSession(scenario: Scenario): Promise<Run> {
  const run = await scenario.session();
  await storeMessage(database.pool, run.runId);
  await endMessages(run);
  return run;
}

test('a message to a session with a slot is stored while its project is locked', async () => {
  const scenario = await projectOf(2);
  const awake = await idleSession(scenario);
  const asleep = await scenario.session();
  const { release } = await lockRow(database.pool, ['projects', 'id = $1', scenario.projectId]);
  expect(await send(awake)).toMatchObject({ outcome: 'stored' });
  const claiming = send(asleep);
  await untilWaiting(database.pool);
  await release();
  expect(await claiming).toMatchObject({ outcome: 'stored' });
  expect(await holdsSlot(asleep)).toBe(true);
});

test.each([
  ['claims it again', false],
  ['is rejected if another session has it', true],
])('a message to a session that releases its slot meanwhile %s', async (_what, isTaken) => {
  const scenario = await projectOf(1);
  const [session, other] = [await idleSession(scenario), await scenario.session()];
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    const change = 'update runs set holds_slot = $2 where id = $1';
    await client.query(change, [session.runId, false]);
    const sending = send(session);
    await untilWaiting(database.pool);
    if (isTaken) await client.query(change, [other.runId, true]);
    await client.query('commit');
    expect(await sending).toMatchObject(
      isTaken
        ? { outcome: 'rejected', reason: 'CONCURRENT_LIMIT', limit: 1, current: 1 }
        : { outcome: 'stored' },
    );
    expect(await holdsSlot(session)).toBe(!isTaken);
  } finally {
    client.release();
  }
});

test('50 messages while their sessions go to sleep: no slot too many, no message without one', async () => {
  const slots = 3;
  const scenario = await projectOf(slots);
  const sessions = await Promise.all(Array.from({ length: 6 }, () => scenario.session()));
  const turns = createTurnStore(database.pool);
  const occupied = async (): Promise<number> => {
    const text = 'select from runs r where r.project_id = $1 and occupies_slot(r)';
    return (await query(text, [scenario.projectId])).rowCount ?? 0;
  };
  const outcomes: string[] = [];
  let most = 0;
  const sampler = { isRunning: true };
  const sampling = (async () => {
    while (sampler.isRunning) {
      most = Math.max(most, await occupied());
      await turn();
    }
  })();

  const sendAll = async (session: Run, count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const answer = await send(session);
      outcomes.push(answer.outcome === 'rejected' ? answer.reason : answer.outcome);
    }
  };
  const sleepOften = async (session: Run): Promise<void> => {
    for (let n = 0; n < 10; n += 1) {
      await endMessages(session);
      await turns.releaseSandbox(session.runId, session.generation);
      await turns.claimSlot(session.runId, 0);
    }
  };
  const senders = Array.from({ length: 50 }, (_, n) => sessions[n % sessions.length] as Run);
  await Promise.all([
    ...senders.map((session) => sendAll(session, 4)),
    ...sessions.map((session) => sleepOften(session)),
  ]);
  sampler.isRunning = false;
  await sampling;
  expect(most).toBe(slots);
  expect(new Set(outcomes)).toEqual(new Set(['stored', 'CONCURRENT_LIMIT']));
  const withoutSlot = await query(
    `select from runs r where r.project_id = $1 and not r.holds_slot and session_has_work(r.id)`,
    [scenario.projectId],
  );
  expect(withoutSlot.rowCount).toBe(0);
});
