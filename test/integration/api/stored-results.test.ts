// Results, replies, questions and webhook bodies in the storage quota of a project.

import { expect, test } from 'vitest';
import { createRetentionStore } from '../../../systems/postgres/maintenance/retention-store.ts';
import { createTurnStore } from '../../../systems/postgres/sessions/turn-store.ts';
import type { Tenant } from '../../support/api-fixture.ts';
import { messageBytesInPostgres } from '../../support/message-bytes.ts';
import { purgeAll } from '../../support/purge-all.ts';
import { giveMessage } from '../systems/postgres/session-turns.ts';
import { caller } from './call.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, chatOf } = useSessions();

const trigger = ({ key, flowId }: Tenant, body: object = {}) =>
  caller(api, key)(`/api/v1/flows/${flowId}/runs`, { body: { prompt: 'Go', ...body } });

/** Compares the count with the stored rows, and returns it. */
async function messageBytes({ projectId }: Tenant): Promise<number> {
  const { messages } = await fixture.stores.projects.storedBytes(projectId);
  expect(messages).toBe(await messageBytesInPostgres(fixture.database.pool, projectId));
  return messages;
}

async function deleteAll(tenant: Tenant, runId: string): Promise<void> {
  const { pool } = fixture.database;
  await fixture.stores.runs.markDeleted(runId);
  await pool.query(
    `update runs set ended_at = ended_at - interval '1 day',
       deleted_at = deleted_at - interval '1 day', webhook_state = 'dropped' where id = $1`,
    [runId],
  );
  const retention = createRetentionStore(pool);
  const check = () => messageBytes(tenant);
  await purgeAll((unpurged) => retention.logs(1_000, unpurged), check);
  await purgeAll((unpurged) => retention.tombstone(1_000, unpurged), check);
  expect((await pool.query('select from runs where id = $1', [runId])).rowCount).toBe(0);
}

const end = (runId: string) =>
  fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

test('the result of a run counts instead of the last one, and rejects runs over the quota', async () => {
  const tenant = await fixture.tenant();
  const { runId } = (await trigger(tenant, { callbackUrl: 'https://hook.example/' })).json.data;
  const report = (result: string | null, structuredOutput: string | null) =>
    fixture.stores.frames.appendOwn({
      ...{ runId, frames: [] },
      facts: { turn: { result, structuredOutput, numTurns: 1 } },
    });
  const counted: number[] = [await messageBytes(tenant)];
  const reports = [
    ['ü'.repeat(10), '{"a":1}'],
    [null, null],
    ['x'.repeat(100), '{}'],
  ] as const;
  for (const [result, structuredOutput] of reports) {
    await report(result, structuredOutput);
    counted.push(await messageBytes(tenant));
  }
  expect(counted).toEqual([2, 2 + 20 + 7, 2 + 7, 2 + 100 + 2]);

  await fixture.stores.projects.update(tenant.projectId, { storageQuotaBytes: 104 });
  const rejected = { error: { code: 'VALIDATION_ERROR', limit: 104, current: 104 } };
  expect(await trigger(tenant)).toMatchObject({ status: 400, json: rejected });
  await fixture.stores.projects.update(tenant.projectId, { storageQuotaBytes: 105 });
  const next = await trigger(tenant);
  expect(next.status).toBe(201);

  await end(runId);
  await end(runId);
  expect(await messageBytes(tenant)).toBeGreaterThan(104 + 2 + 100);
  await deleteAll(tenant, runId);
  expect(await messageBytes(tenant)).toBe(2);
});

test('the reply to a message counts once, also if the service gives the reason', async () => {
  const tenant = await fixture.tenant();
  const { pool } = fixture.database;
  const open = async () => (await chatOf(tenant)({ message: 'Hi' })).json.data;
  const { runId, messageId } = await open();
  const held = await giveMessage(pool, runId);
  const batch = { ...held, fromOffset: 0, toOffset: 1, frames: [], facts: {} };
  const turnEnd = { messageId, exitCode: 0, reply: 'ü'.repeat(50) } as const;
  for (let n = 0; n < 2; n += 1) {
    await fixture.stores.frames.append(batch, { turnEnd });
    expect(await messageBytes(tenant)).toBe(2 + 100);
  }

  const rejected = await open();
  const lease = await giveMessage(pool, rejected.runId);
  const turns = createTurnStore(pool);
  const turn = { messageId: rejected.messageId, reason: 'no file' };
  for (let n = 0; n < 2; n += 1) await turns.rejectTurn(lease, turn);
  expect(await messageBytes(tenant)).toBe(102 + 2 + 7);

  const undelivered = await open();
  const why = { error: 'no_capacity', reason: 'no host' } as const;
  for (let n = 0; n < 2; n += 1)
    await turns.failTurn({ runId: undelivered.runId, generation: 1 }, why);
  expect(await messageBytes(tenant)).toBe(111 + 2 + 7);

  for (const { runId: id } of [{ runId }, rejected, undelivered]) {
    await end(id);
    await deleteAll(tenant, id);
  }
  expect(await messageBytes(tenant)).toBe(0);
});

test.each([true, false])('questions count with their answers; deleted: %s', async (isDeleted) => {
  const tenant = await fixture.tenant();
  const { interactions, runs } = fixture.stores;
  const { runId } = (await trigger(tenant)).json.data;
  const interaction = { interactionId: 'q', toolName: 'AskUserQuestion', input: '{"q":"ü"}' };
  for (let n = 0; n < 2; n += 1) await interactions.record(runId, [{ kind: 'asked', interaction }]);
  expect(await messageBytes(tenant)).toBe(2 + 10);
  const of = { runId, interactionId: 'q' };
  expect(await interactions.answer({ ...of, answers: { q: 'a' } })).toBe(true);
  expect(await interactions.answer({ ...of, answers: { q: 'other' } })).toBe(false);
  expect(await messageBytes(tenant)).toBe(2 + 10 + 9);
  await end(runId);
  if (isDeleted) await deleteAll(tenant, runId);
  else {
    const text = `update runs set ended_at = ended_at - interval '1 day' where id = $1`;
    await fixture.database.pool.query(text, [runId]);
    const retention = createRetentionStore(fixture.database.pool);
    await purgeAll((unpurged) => retention.logs(1_000, unpurged));
    expect(await runs.find(runId)).not.toBeNull();
  }
  expect(await messageBytes(tenant)).toBe(isDeleted ? 0 : 2);
});
