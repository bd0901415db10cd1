import { expect, test } from 'vitest';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { giveMessage, storeMessage } from './session-turns.ts';
import { setupScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const second = useSecondPool(database);

test('a session is not idle if a message was stored before its turn ended', async () => {
  const { runId } = await scenario.session({ callbackUrl: 'https://hooks.example/session' });
  const messageId = await storeMessage(database.pool, runId);
  const lease = await giveMessage(database.pool, runId);
  const lock = await database.pool.connect();
  await lock.query('begin');
  await lock.query('select from runs where id = $1 for update', [runId]);
  const storing = storeMessage(second(), runId);
  await untilWaiting(1);
  const batch = { fromOffset: 0, toOffset: 1, frames: [], facts: { agentStatus: 'idle' as const } };
  const turnEnd = { messageId, exitCode: 0 as const, reply: 'Hi.' };
  const ending = createFrameStore(database.pool).append({ ...lease, ...batch }, { turnEnd });
  await untilWaiting(2);
  await lock.query('rollback');
  lock.release();
  await Promise.all([storing, ending]);
  const { rows } = await database.pool.query('select event from webhook_events');
  expect(rows).toEqual([]);
});

async function untilWaiting(count: number): Promise<void> {
  const text = `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.pool.query(text)).rowCount).toBe(count);
}
