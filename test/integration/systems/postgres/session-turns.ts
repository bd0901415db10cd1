// The setup of most session tests: a message, an agent that works on it, and another connection
// that waits for a lock.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../systems/postgres/log/lease.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';

/** Returns its id. */
export async function storeMessage(pool: Pool, runId: string): Promise<string> {
  const message = { runId, messageId: randomUUID(), clientMessageId: null, text: 'Hello.' };
  const stored = await createMessageStore(pool).store(message);
  if (stored.outcome !== 'stored') throw new Error(`not stored: ${stored.outcome}`);
  return message.messageId;
}

/** Delivers the session's oldest message to an agent. */
export async function giveMessage(pool: Pool, runId: string): Promise<SandboxLease> {
  await createHostStore(pool).renew({ hostId: 'h-1', name: 'h', capacity: 1_000 });
  const turns = createTurnStore(pool);
  await turns.claimSlot(runId, 0);
  const lease = await createFrameStore(pool).takeLease(runId, 'h-1', 60_000);
  if (!lease) throw new Error('the lease is taken');
  const held = { runId, generation: 1, token: lease.token };
  const { outcome } = await turns.claim(held);
  if (outcome !== 'turn') throw new Error(`not given: ${outcome}`);
  return held;
}

/** Resolves when a statement waits for a lock of another transaction. */
export async function untilWaiting(pool: Pool): Promise<void> {
  const text = `select from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await pool.query(text)).rowCount).toBe(1);
}
