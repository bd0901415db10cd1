// Messages to sessions at the API: which are accepted or rejected, and with which answer.

import { describe, expect, onTestFinished, test } from 'vitest';
import { sessionChannel } from '../../../core/hosts/host-rpc.ts';
import { limits } from '../../../core/limits.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import { createNotifications } from '../../../systems/redis/notifications.ts';
import { caller } from './call.ts';
import { sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, api, tenant, chatOf, chat, open, messages } = useSessions();

describe('a message', () => {
  const bytes = limits.text.promptMaxBytes;

  test.each([
    ['of one byte', { message: 'x' }],
    ['of 1 MiB', { message: 'é'.repeat(bytes / 2) }],
    ['with an id of one character', { message: 'x', clientMessageId: '!' }],
    ['with an id of 255', { message: 'x', clientMessageId: '~'.repeat(255) }],
    ['that requests a stream of its turn', { message: 'x', stream: true }],
    ['without files', { message: 'x', files: [] }],
  ])('%s is accepted', async (_what, body) => {
    const session = await open();
    const answer = await chat({ ...body, sessionId: session.sessionId });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.json.data).toEqual({
      ...session,
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      streamUrl: expect.stringContaining(`/api/v1/runs/${session.runId}/stream`),
      position: 0,
    });
  });

  test("notifies the session's host before the workflow does", async () => {
    const session = await open();
    let rings = 0;
    const notifications = createNotifications(fixture.redis.redis, fixture.redis);
    onTestFinished(notifications.close);
    const notified = createDeferred<true>();
    notifications.subscribe(sessionChannel(session.runId), () => {
      rings += 1;
      notified.resolve(true);
    });
    await notified.promise;
    await chat({ message: 'x', sessionId: session.sessionId });
    await expect.poll(() => rings).toBe(2);
  });

  test.each([
    ['that is none', {}, 'body.message'],
    ['of nothing', { message: '' }, 'body.message'],
    ['of 1 MiB and a byte', { message: `${'é'.repeat(bytes / 2)}x` }, 'body.message: must be at'],
    ['that is no text', { message: 7 }, 'body.message'],
    ['with NUL', { message: 'a\0b' }, 'body.message'],
    ['with half a surrogate pair', { message: 'a\ud800' }, 'body.message'],
    ['with an id of 256', { message: 'x', clientMessageId: 'i'.repeat(256) }, 'clientMessageId'],
    ['with an id of nothing', { message: 'x', clientMessageId: '' }, 'body.clientMessageId'],
    ['with a space in its id', { message: 'x', clientMessageId: 'a b' }, 'body.clientMessageId'],
    ['with an id beyond ASCII', { message: 'x', clientMessageId: 'é' }, 'body.clientMessageId'],
    ['that wants a stream in words', { message: 'x', stream: 'no' }, 'body.stream'],
    ['with unknown fields', { message: 'x', env: {}, id: 1 }, 'body.env: unknown field; body.id: '],
    ['with files that are none', { message: 'x', files: {} }, 'body.files'],
    ['with a file that leaves', { message: 'x', files: [file('../a')] }, 'body.files.0.path'],
  ])('%s is rejected, and nothing is stored', async (_what, body, says) => {
    const { sessionId, runId } = await open();
    const { status, json } = await chat({ ...body, sessionId });
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.error.message).toContain(says);
    expect(await messages(runId)).toBe(0);
  });

  test.each(['', 'a b', 'a/b', 'é', 'x'.repeat(129), 7])(
    'for session %j is rejected',
    async (id) => {
      const { status, json } = await chat({ message: 'x', sessionId: id });
      expect([status, json.error.message]).toEqual([
        400,
        expect.stringContaining('body.sessionId'),
      ]);
    },
  );

  test('for an unknown session is 404, and opens none', async () => {
    const sessionId = `nobody-${'s'.repeat(121)}`;
    expect(sessionId).toHaveLength(128);
    for (const stream of [true, false]) {
      const { status, json } = await chat({ message: 'x', sessionId, stream });
      expect([status, json.error.code]).toEqual([404, 'NOT_FOUND']);
    }
    const { rowCount } = await fixture.database.pool.query(
      'select from sessions where session_id = $1',
      [sessionId],
    );
    expect(rowCount).toBe(0);
    // The same id in another flow is another session.
    const other = await fixture.tenant();
    const { sessionId: theirs } = await open(other);
    expect((await chat({ message: 'x', sessionId: theirs })).status).toBe(404);
  });

  test('for an ended session is 404', async () => {
    const { sessionId, runId } = await open();
    await fixture.stores.runs.recordCause({ runId, cause: 'stopped_by_api', detail: null });
    const { status, json } = await chat({ message: 'x', sessionId });
    expect([status, json.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(json.error.message).toMatch(/^The session has ended\. Open a new one\.$/);
    expect(await messages(runId)).toBe(0);
  });
});

test('a position counts the messages before it, the current one included', async () => {
  const { sessionId, runId } = await open();
  const worker = sessionWorker(fixture, runId);
  const send = async (n: number) =>
    (await chat({ message: `${n}`, sessionId, clientMessageId: `n-${n}` })).json.data.position;
  expect([await send(0), await send(1), await send(2)]).toEqual([0, 1, 2]);
  await worker.begin();
  expect([await send(3), await send(2)]).toEqual([3, 2]);
  await worker.end('Done.');
  expect([await send(4), await send(2), await send(1), await send(0)]).toEqual([3, 1, 0, 0]);
});

test('queues at most fifty messages behind the current one', async () => {
  const { sessionId, runId } = await open();
  await chat({ message: 'At work.', sessionId });
  await sessionWorker(fixture, runId).begin();
  const waiting = Array.from({ length: limits.session.queueMax + 3 }, () =>
    chat({ message: 'Waits.', sessionId }),
  );
  const answers = await Promise.all(waiting);
  const [limit, current] = [limits.session.queueMax, limits.session.queueMax];
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused.map(({ status, json }) => [status, json.error])).toEqual(
    Array.from({ length: 3 }, () => [
      429,
      { code: 'QUEUE_FULL', limit, current, message: expect.any(String) },
    ]),
  );
  expect(await messages(runId)).toBe(1 + limits.session.queueMax);
});

describe('an answer that waits for the turn', () => {
  test('is the 202 answer after the timeout', async () => {
    const hurried = await fixture.start({ chatWaitMs: 100 });
    const session = await open();
    const { runId } = session;
    const body = { message: 'x', sessionId: session.sessionId, clientMessageId: 'one' };
    const send = () => chatOf(tenant, hurried)({ ...body, stream: false });
    const late = await send();
    expect([late.status, late.json.data]).toEqual([
      202,
      {
        ...{ ...session, messageId: expect.any(String), position: 0 },
        streamUrl: expect.stringContaining(`/runs/${runId}/stream`),
      },
    ]);
    const worker = sessionWorker(fixture, runId);
    await worker.begin();
    await worker.end('There.');
    // A retry is answered by the same turn.
    const first = await send();
    expect([first.status, first.json.data]).toMatchObject([
      200,
      { messageId: late.json.data.messageId, text: 'There.', exitCode: 0 },
    ]);
    expect(await messages(runId)).toBe(1);
  });

  test('has the queue position at the time of the answer', async () => {
    const hurried = await fixture.start({ chatWaitMs: 1_500 });
    const { sessionId, runId } = await open();
    for (const message of ['first', 'second']) await chat({ message, sessionId });
    const worker = sessionWorker(fixture, runId);
    await worker.begin();
    const late = chatOf(tenant, hurried)({ message: 'third', sessionId, stream: false });
    await expect.poll(() => messages(runId)).toBe(3);
    await worker.end('Done.');
    expect((await late).json.data).toMatchObject({ position: 1 });
  });
});

test('sessions do not count towards the monthly quota', async () => {
  const unpaid = await fixture.tenant({ monthlyRunQuota: 0 });
  const { sessionId, runId } = await open(unpaid);
  const send = chatOf(unpaid);
  expect((await send({ message: 'x', sessionId })).status).toBe(202);
  expect((await send({ message: 'x' })).status).toBe(202);
  const worker = sessionWorker(fixture, runId);
  await worker.begin();
  await worker.end('Done.');
  expect(await fixture.stores.keyUsage.bounds(unpaid.projectId)).toMatchObject({ monthlyRuns: 0 });
  const run = await caller(api, unpaid.key)(`/api/v1/flows/${unpaid.flowId}/runs`, {
    body: { prompt: 'Go' },
  });
  expect(run.json.error).toMatchObject({ code: 'MONTHLY_QUOTA', limit: 0, current: 0 });
});

function file(path: string) {
  return { path, content: 'x', encoding: 'utf8' };
}
