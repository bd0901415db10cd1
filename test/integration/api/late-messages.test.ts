import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, tenant, call } = useTenant();

/** A message to a session whose workflow ends, or does not answer when it is signalled. */
async function sendLate(signalMessage: ApiDeps['signalMessage']) {
  const path = `/api/v1/flows/${tenant.flowId}`;
  const opened = await call(`${path}/sessions`, { body: {} });
  const { sessionId, runId } = opened.json.data;
  const api = await fixture.start({ signalMessage });
  const body = { message: 'Late.', sessionId, clientMessageId: randomUUID() };
  const sent = await caller(api, tenant.key)(`${path}/chat`, { body });
  await api.close();
  const { pool } = fixture.database;
  const stored = await pool.query('select id from session_messages where run_id = $1', [runId]);
  const query = `select data from frames where run_id = $1 and event = 'turn_end'`;
  const ends = await pool.query<{ data: string }>(query, [runId]);
  return {
    sent,
    stored: stored.rows.map(({ id }) => id),
    ends: ends.rows.map(({ data }) => JSON.parse(data)),
  };
}

test('accepts a message whose session ends before it is signalled: it fails with it', async () => {
  const { sent, stored, ends } = await sendLate(async ({ runId }) => {
    const end = { runId, cause: 'stopped_by_api', detail: null, exitCode: null } as const;
    await fixture.stores.runs.endRun(end);
    return 'gone';
  });
  expect(sent.status).toBe(202);
  const { messageId } = sent.json.data;
  expect(stored).toEqual([messageId]);
  expect(ends).toMatchObject([{ messageId, exitCode: 1 }]);
});

test('leaves a message to the reconciler if the session has no workflow', async () => {
  const { sent, stored, ends } = await sendLate(async () => 'gone');
  expect(sent.status).toBe(202);
  expect([stored, ends]).toEqual([[sent.json.data.messageId], []]);
  const unsignalled = await fixture.stores.messages.unsignalled(0);
  expect(unsignalled.map(({ messageId }) => messageId)).toContain(sent.json.data.messageId);
});

test('accepts a message in time while Temporal does not answer', async () => {
  const began = performance.now();
  const { sent, stored } = await sendLate(() => new Promise(() => {}));
  expect(sent.status).toBe(202);
  expect(stored).toEqual([sent.json.data.messageId]);
  expect(performance.now() - began).toBeLessThan(10_000);
});
