// A client whose answer was lost sends its message again. It counts as the first message, and no
// turn is run for it.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, tenant, call, chatOf, chat, sessionsOf, open, messages } = useSessions();

test('is deduplicated after its turn, while asleep, and in another sandbox', async () => {
  const { sessionId, runId } = await open();
  const worker = sessionWorker(fixture, runId);
  const first = { message: 'One.', sessionId, clientMessageId: 'one' };
  const { messageId } = (await chat(first)).json.data;
  const again = async (body: object = first) => {
    const { status, json } = await chat(body);
    return [status, json.data.messageId, await messages(runId)];
  };
  expect(await again()).toEqual([202, messageId, 1]);
  expect(await worker.begin()).toBe(messageId);
  expect(await again()).toEqual([202, messageId, 1]);
  await worker.end('Done.');
  expect(await again({ ...first, message: 'Another.' })).toEqual([202, messageId, 1]);
  const waited = await chat({ ...first, stream: false });
  expect([waited.status, waited.json.data]).toEqual([
    200,
    {
      ...{ sessionId, runId, messageId, text: 'Done.', exitCode: 0, costUsd: 0.25 },
      usage: {
        ...{ inputTokens: 100, outputTokens: 10 },
        ...{ cacheReadInputTokens: 50, cacheCreationInputTokens: 7 },
      },
    },
  ]);

  await worker.sleep();
  expect(await again()).toEqual([202, messageId, 1]);
  const asleep = await call(`${sessionsOf()}/${sessionId}`);
  expect(asleep.json.data).toMatchObject({ status: 'sleep', queued: 0 });
  expect((await fixture.stores.runs.find(runId))?.holdsSlot).toBe(false);

  const second = await chat({ message: 'Two.', sessionId, clientMessageId: 'two' });
  expect(await worker.begin()).toBe(second.json.data.messageId);
  expect((await fixture.stores.runs.find(runId))?.generation).toBe(2);
  expect(await again()).toEqual([202, messageId, 2]);
  await worker.end('Done, too.');
  expect(await again()).toEqual([202, messageId, 2]);
});

test('is deduplicated by header or field, but not by two different keys', async () => {
  const { sessionId, runId } = await open();
  const body = { message: 'One.', sessionId };
  const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
  const answers = [
    await chat(body, withKey('k')),
    await chat({ ...body, clientMessageId: 'k' }),
    await chat({ ...body, clientMessageId: 'k' }, withKey('k')),
  ];
  const ids = answers.map(({ json }) => json.data.messageId);
  expect(new Set(ids).size).toBe(1);
  const differ = await chat({ ...body, clientMessageId: 'k' }, withKey('other'));
  expect([differ.status, differ.json.error]).toEqual([
    400,
    {
      code: 'VALIDATION_ERROR',
      message: 'body.clientMessageId: differs from the Idempotency-Key header',
    },
  ]);
  expect((await chat(body, withKey('i'.repeat(256)))).status).toBe(400);
  expect(await messages(runId)).toBe(1);
  expect((await chat(body, withKey('i'.repeat(255)))).status).toBe(202);
  // In another session it is another message.
  const { sessionId: another } = await open();
  const inOtherSession = await chat({ message: 'One.', sessionId: another }, withKey('k'));
  expect(inOtherSession.json.data.messageId).not.toBe(ids[0]);
});

test('is stored once by ten concurrent requests', async () => {
  const { sessionId, runId } = await open();
  const other = await fixture.start();
  const body = { message: 'One.', sessionId, clientMessageId: 'one' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => chatOf(tenant, n % 2 === 0 ? api : other)(body)),
  );
  expect(new Set(answers.map(({ json }) => json.data.messageId)).size).toBe(1);
  expect(await messages(runId)).toBe(1);
});

test('is answered when a new one would be rejected', async () => {
  const own = await fixture.tenant();
  const { sessionId } = await open(own);
  const send = chatOf(own);
  const first = { message: 'One.', sessionId, clientMessageId: 'one' };
  const { messageId } = (await send(first)).json.data;
  await fixture.database.pool.query('update session_messages set ended_at = now() where id = $1', [
    messageId,
  ]);
  await fixture.database.pool.query('update runs set holds_slot = false where flow_id = $1', [
    own.flowId,
  ]);
  await fixture.stores.projects.update(own.projectId, { maxConcurrentRuns: 0 });
  expect((await send({ message: 'Two.', sessionId })).json.error).toMatchObject({
    ...{ code: 'CONCURRENT_LIMIT', limit: 0, current: 0 },
  });
  const again = await send(first);
  expect([again.status, again.json.data.messageId]).toEqual([202, messageId]);
});

test('finds the session that the first attempt has opened', async () => {
  const first = { message: 'Hello.', clientMessageId: randomUUID() };
  const [one, other] = await Promise.all([chat(first), chat(first)]);
  const { sessionId, runId, messageId } = one.json.data;
  expect(other.json.data).toMatchObject({ sessionId, runId, messageId });
  const worker = sessionWorker(fixture, runId);
  await worker.begin();
  await worker.end('Done.');
  await worker.sleep();
  const { message, clientMessageId: key } = first;
  const late = await chat({ message }, { headers: { 'idempotency-key': key } });
  expect(late.json.data).toMatchObject({ sessionId, runId, messageId });
  expect(await messages(runId)).toBe(1);
  const listed = await call(`${sessionsOf()}?limit=200`);
  const ids = listed.json.data.map((each: { sessionId: string }) => each.sessionId);
  expect(ids.filter((id: string) => id.startsWith('first-'))).toEqual([sessionId]);
  // The session continues under the returned id; a message without an id opens another one.
  expect((await chat({ message, sessionId })).json.data.runId).toBe(runId);
  expect((await chat({ message })).json.data.runId).not.toBe(runId);
  const inOtherProject = await chatOf(await fixture.tenant())(first);
  expect(inOtherProject.json.data.sessionId).not.toBe(sessionId);
});
