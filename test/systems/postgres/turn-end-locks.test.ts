import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createFrameStore } from '../../../systems/postgres/frame-store.ts';
import { createHostStore } from '../../../systems/postgres/host-store.ts';
import { createMessageStore } from '../../../systems/postgres/message-store.ts';
import { createSessionStore } from '../../../systems/postgres/session-store.ts';
import { createTurnStore } from '../../../systems/postgres/turn-store.ts';
import { testSealer } from '../../support/database.ts';
import { useScene } from './use-scene.ts';

const { database, scene } = useScene();
const frames = () => createFrameStore(database.pool);

/** A turn that an agent is at work on. */
async function turn() {
  await createHostStore(database.pool).renew({ hostId: 'h-1', name: 'h', capacity: 1_000 });
  const { runId } = await createSessionStore(database.pool, testSealer).open({
    ...scene.request(),
    sessionId: randomUUID(),
    mcpServerNames: [],
  });
  const messageId = randomUUID();
  const message = { runId, messageId, clientMessageId: null, text: 'Hello.' };
  await createMessageStore(database.pool).store(message);
  const turns = createTurnStore(database.pool);
  await turns.claimPlace(runId, 0);
  const lease = await frames().takeLease(runId, 'h-1', 60_000);
  if (!lease) throw new Error('the lease is taken');
  const held = { runId, generation: 1, token: lease.token };
  expect(await turns.claim(held)).toMatchObject({ outcome: 'turn', messageId });
  return { held, messageId };
}

test('a turn that ends while a message is stored waits for that, and never the other way round', async () => {
  const { held, messageId } = await turn();
  const { runId } = held;
  const storing = await database.pool.connect();
  try {
    await storing.query('begin');
    await storing.query('select from runs where id = $1 for no key update', [runId]);
    const end = { messageId, exitCode: 0, reply: 'Hi.', usage: null, costUsd: null } as const;
    const ending = frames().append(
      { ...held, fromOffset: 0, toOffset: 1, frames: [], facts: { agentStatus: 'idle' } },
      { turnEnd: end },
    );
    await untilWaiting();
    await storing.query('update sessions set last_message_at = db_clock() where run_id = $1', [
      runId,
    ]);
    await storing.query('commit');
    expect(await ending).toMatchObject({ outcome: 'stored' });
    expect(await createMessageStore(database.pool).end(messageId)).toMatchObject({ reply: 'Hi.' });
  } finally {
    storing.release();
  }
});

async function untilWaiting(): Promise<void> {
  const text = `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.pool.query(text)).rowCount).toBe(1);
}
