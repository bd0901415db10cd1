// The queue of a session can be read, and a message that no agent has received can be withdrawn.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { createTurnStore } from '../../../systems/postgres/sessions/turn-store.ts';
import { messageBytesInPostgres } from '../../support/message-bytes.ts';
import type { Answer } from './call.ts';
import { nextOf } from './lister.ts';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, tenant, call, chat, sessionsOf, open, messages } = useSessions();

const queueOf = (sessionId: string): string => `${sessionsOf()}/${sessionId}/messages`;
const withdraw = (sessionId: string, messageId: string): Promise<Answer> =>
  call(`${queueOf(sessionId)}/${messageId}`, { method: 'DELETE' });

async function send(sessionId: string, message = 'Hello.', more: object = {}): Promise<string> {
  const { status, json } = await chat({ message, sessionId, ...more });
  expect(status).toBe(202);
  return json.data.messageId;
}

async function queued(sessionId: string): Promise<unknown[]> {
  const { status, json } = await call(queueOf(sessionId));
  expect(status).toBe(200);
  return json.data.map(({ messageId, position, state }: Record<string, unknown>) => [
    ...[messageId, position, state],
  ]);
}

const sessionOf = async (sessionId: string) =>
  (await call(`${sessionsOf()}/${sessionId}`)).json.data;
const holdsSlot = async (runId: string) => (await fixture.stores.runs.find(runId))?.holdsSlot;

async function eventsOf(runId: string): Promise<unknown[]> {
  const text = `select event, data from frames where run_id = $1 and channel = 'chat' order by seq`;
  const { rows } = await fixture.database.pool.query<{ event: string; data: string }>(text, [
    runId,
  ]);
  return rows.map(({ event, data }) => [event, JSON.parse(data).messageId ?? null]);
}

test('lists the queued messages and the one in progress, in order', async () => {
  const { sessionId, runId } = await open();
  const worker = sessionWorker(fixture, runId);
  expect(await queued(sessionId)).toEqual([]);
  const [one, two, three] = [
    await send(sessionId, 'One.'),
    await send(sessionId, 'Two.'),
    await send(sessionId, 'Three.'),
  ];
  expect((await call(queueOf(sessionId))).json.data[1]).toEqual({
    ...{ messageId: two, position: 1, state: 'queued', text: 'Two.' },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  await worker.begin();
  expect(await queued(sessionId)).toEqual([
    [one, 0, 'in_progress'],
    [two, 1, 'queued'],
    [three, 2, 'queued'],
  ]);
  await worker.end('Done.');
  expect(await queued(sessionId)).toEqual([
    [two, 0, 'queued'],
    [three, 1, 'queued'],
  ]);
});

test('a page of the queue ends at its size, and the next one continues after it', async () => {
  const { sessionId } = await open();
  const text = 'x'.repeat(limits.text.promptMaxBytes);
  const sent: string[] = [];
  for (let n = 0; n < 6; n += 1) sent.push(await send(sessionId, text));
  const pages: Answer[] = [await call(queueOf(sessionId))];
  for (
    let next = nextOf(pages[0] as Answer);
    next !== null;
    next = nextOf(pages.at(-1) as Answer)
  ) {
    pages.push(await call(next));
  }
  expect(pages.map(({ json }) => json.data.length)).toEqual([4, 2]);
  const listed = pages.flatMap(
    ({ json }) => json.data as { messageId: string; position: number }[],
  );
  expect(listed.map(({ messageId, position }) => [messageId, position])).toEqual(
    sent.map((messageId, position) => [messageId, position]),
  );
  expect((await call(`${queueOf(sessionId)}?limit=1`)).json.data).toHaveLength(1);
  expect((await call(`${queueOf(sessionId)}?cursor=x`)).status).toBe(400);
});

test('a queued message is withdrawn once, gets no turn, and loses its text', async () => {
  const { sessionId, runId } = await open();
  const worker = sessionWorker(fixture, runId);
  const [one, two, three] = [await send(sessionId), await send(sessionId), await send(sessionId)];
  await worker.begin();
  const first = await withdraw(sessionId, two);
  expect([first.status, first.json.data]).toEqual([
    ...[200, { sessionId, runId, messageId: two, withdrawn: true }],
  ]);
  const second = await withdraw(sessionId, two);
  expect([second.status, second.json]).toEqual([200, first.json]);
  const logged = api
    .log()
    .split('\n')
    .filter((line) => /message_withdrawn/.test(line));
  expect(logged.filter((line) => line.includes(two))).toHaveLength(1);
  expect(await sessionOf(sessionId)).toMatchObject({ queued: 1 });
  expect(await queued(sessionId)).toEqual([
    [one, 0, 'in_progress'],
    [three, 1, 'queued'],
  ]);
  await worker.end('Done.');
  expect(await worker.begin()).toBe(three);
  const { messages: counted } = await fixture.stores.projects.storedBytes(tenant.projectId);
  const { pool } = fixture.database;
  expect(counted).toBe(await messageBytesInPostgres(pool, tenant.projectId));
  const text = 'select text from session_messages where id = $1';
  expect((await pool.query(text, [two])).rows).toEqual([{ text: '' }]);
  expect(await eventsOf(runId)).toEqual([
    ['session_ready', null],
    ['user_message', one],
    ['message_withdrawn', two],
    ['user_message', three],
  ]);
});

test('a message that an agent may have received, or that has ended, is not withdrawn', async () => {
  const { sessionId, runId } = await open();
  const worker = sessionWorker(fixture, runId);
  const delivered = await send(sessionId);
  const left = await send(sessionId);
  await worker.begin();
  const refused = async (messageId: string) => {
    const { status, json } = await withdraw(sessionId, messageId);
    expect([status, json.error?.code]).toEqual([409, 'MESSAGE_NOT_QUEUED']);
  };
  await refused(delivered);
  await worker.sleep(); // its sandbox is gone, and another one repeats the turn
  await refused(delivered);
  await worker.begin();
  await worker.end('Done.');
  await refused(delivered);
  const end = { runId, cause: 'stopped_by_api', detail: null, exitCode: null } as const;
  await fixture.stores.runs.endRun(end);
  await refused(left);
});

test('an unknown message, or one of another session, gets 404', async () => {
  const [{ sessionId }, other] = [await open(), await open()];
  const messageId = await send(other.sessionId);
  for (const unknown of [messageId, randomUUID(), 'no-id']) {
    const { status, json } = await withdraw(sessionId, unknown);
    expect([status, json.error?.code]).toEqual([404, 'NOT_FOUND']);
  }
  expect((await withdraw(randomUUID(), messageId)).status).toBe(404);
  expect(await queued(other.sessionId)).toEqual([[messageId, 0, 'queued']]);
});

test('a request that waits for the turn is answered, and a repeated one stores nothing', async () => {
  const { sessionId, runId } = await open();
  const body = { message: 'Hello.', sessionId, clientMessageId: randomUUID() };
  const waiting = chat({ ...body, stream: false });
  await expect.poll(() => messages(runId)).toBe(1);
  const [[messageId]] = (await queued(sessionId)) as [[string]];
  await withdraw(sessionId, messageId);
  const { status, json } = await waiting;
  expect([status, json.data]).toMatchObject([
    200,
    { messageId, text: '', exitCode: 1, error: 'withdrawn', costUsd: null },
  ]);
  expect((await chat({ ...body, stream: false })).json).toEqual(json);
  const again = await chat(body);
  expect([again.status, again.json.data.messageId]).toEqual([202, messageId]);
  expect(await messages(runId)).toBe(1);
  expect(await sessionOf(sessionId)).toMatchObject({ queued: 0 });
});

test('a sleeping session releases the slot of its withdrawn messages', async () => {
  const { sessionId, runId } = await open();
  const [one, two] = [await send(sessionId), await send(sessionId)];
  await withdraw(sessionId, one);
  expect(await holdsSlot(runId)).toBe(true);
  await withdraw(sessionId, two);
  expect(await holdsSlot(runId)).toBe(false);
  // The workflow may still be notified of the messages, and finds nothing.
  const turns = createTurnStore(fixture.database.pool);
  expect(await turns.claimSlot(runId, 0)).toMatchObject({ outcome: 'no_work' });
  const worker = sessionWorker(fixture, runId);
  const three = await send(sessionId);
  expect(await holdsSlot(runId)).toBe(true);
  expect(await worker.begin()).toBe(three);
  await worker.end('Done.');
  // With a sandbox, the workflow puts the session to sleep as after any turn.
  await withdraw(sessionId, await send(sessionId));
  expect(await holdsSlot(runId)).toBe(true);
  expect((await turns.idleState(runId)).idleForMs).toBeGreaterThanOrEqual(0);
  await worker.sleep();
  expect(await holdsSlot(runId)).toBe(false);
});
