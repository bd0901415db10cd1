import { expect, test } from 'vitest';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { giveMessage, storeMessage, untilWaiting } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const frames = () => createFrameStore(database.pool);

test('the end of a turn waits for a message that is being stored, and never the reverse', async () => {
  const { runId } = await scenario.session();
  const messageId = await storeMessage(database.pool, runId);
  const held = await giveMessage(database.pool, runId);
  const storing = await database.pool.connect();
  try {
    await storing.query('begin');
    await storing.query('select from runs where id = $1 for no key update', [runId]);
    const end = { messageId, exitCode: 0, reply: 'Hi.' } as const;
    const ending = frames().append(
      { ...held, fromOffset: 0, toOffset: 1, frames: [], facts: { agentStatus: 'idle' } },
      { turnEnd: end },
    );
    await untilWaiting(database.pool);
    await storing.query('update sessions set last_message_at = db_clock() where run_id = $1', [
      runId,
    ]);
    await storing.query('commit');
    expect(await ending).toMatchObject({ outcome: 'stored' });
    const ends = await createMessageStore(database.pool).ends([messageId]);
    expect(ends.get(messageId)).toMatchObject({ reply: 'Hi.' });
  } finally {
    storing.release();
  }
});
