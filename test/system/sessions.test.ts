import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { Answer } from '../support/api-client.ts';
import { openConversation } from '../support/conversation.ts';
import { modelScript, script } from '../support/prompts.ts';
import { endSession, untilRemoved } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 120_000 };
const saying = (say: string): string => script([{ say }]);
const hanging = script([{ say: 'working' }, { hang: true }]);
const chatPath = () => `/flows/${service.flowId}/chat`;
const ended = expect.stringContaining('has ended') as string;
const pathOf = ({ sessionId }: { sessionId: string }): string =>
  `/flows/${service.flowId}/sessions/${sessionId}`;

describe('a session over HTTP', patiently, () => {
  it('is opened once under its id, even if the second request differs', async () => {
    const path = `/flows/${service.flowId}/sessions`;
    const body = { sessionId: 'ticket:4711', name: 'Ticket', labels: { a: '1' } };
    const answers = await Promise.all([1, 2, 3].map(() => service.call('POST', path, { body })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ data }) => data['runId'])).size).toBe(1);
    const resumed = ({ headers }: Answer) => headers.get('session-resumed') === 'true';
    expect(answers.filter(resumed)).toHaveLength(2);
    const other = { ...body, name: 'Other', env: { A: 'b' } };
    const again = await service.call('POST', path, { body: other });
    expect(again.data).toEqual(answers[0]?.data);
    expect(resumed(again)).toBe(true);
    const read = await service.call('GET', pathOf(body));
    expect(read.data).toMatchObject({
      ...{ sessionId: 'ticket:4711', name: 'Ticket', labels: { a: '1' }, triggerType: 'api' },
      ...{ status: 'sleep', agentStatus: null, startedAt: null, finishedAt: null },
      ...{ queued: 0, lastMessageAt: null, runId: again.data['runId'] },
    });
    const list = await service.call<{ sessionId: string }[]>('GET', path);
    expect(list.data.map(({ sessionId }) => sessionId)).toContain('ticket:4711');
    expect((await service.call('GET', pathOf({ sessionId: 'nobody' }))).status).toBe(404);
  });

  it('answers with the turn if asked to wait, and opens a session without an id', async () => {
    const message = script([{ callModel: 'Hi.' }, { say: 'Hello.' }]);
    const body = { message, stream: false };
    const answer = await service.call('POST', chatPath(), { body });
    expect(answer).toMatchObject({ status: 200, data: { text: 'Hello.', exitCode: 0 } });
    expect(answer.data['usage']).toMatchObject({ outputTokens: expect.any(Number) as number });
    expect(answer.data['costUsd']).toBeGreaterThan(0);
    const next = { ...body, sessionId: answer.data['sessionId'] };
    const second = await service.call('POST', chatPath(), { body: next });
    expect(second.data).toMatchObject({ runId: answer.data['runId'], text: 'Hello.' });
    const run = await service.readRun(String(answer.data['runId']));
    const costs = [answer, second].map(({ data }) => Number(data['costUsd']));
    expect(run.costUsd).toBeCloseTo((costs[0] ?? 0) + (costs[1] ?? 0), 9);
    await service.call('DELETE', pathOf({ sessionId: String(answer.data['sessionId']) }));
  });

  it('costs the sum of its turns, without rounding errors', async () => {
    const pay = async (outputTokens: number, to: object = {}) => {
      const usage = { input_tokens: 0, output_tokens: outputTokens };
      const callModel = modelScript([{ usage }, { text: 'Paid.' }]);
      // The cost that the agent reports is ignored.
      const message = script([{ callModel }, { costUsd: 99 }, { say: 'Paid.' }]);
      const body = { message, stream: false, ...to };
      return (await service.call('POST', chatPath(), { body })).data;
    };
    const first = await pay(5_000);
    const sessionId = String(first['sessionId']);
    const second = await pay(10_000, { sessionId });
    const run = await service.readRun(String(first['runId']));
    expect([first['costUsd'], second['costUsd'], run.costUsd]).toEqual([0.1, 0.2, 0.3]);
    const outputs = [first['usage'], second['usage'], run.usage];
    expect(outputs).toMatchObject(
      [5_000, 10_000, 15_000].map((outputTokens) => ({ outputTokens })),
    );
    await service.call('DELETE', pathOf({ sessionId }));
  });

  it('runs messages in order, each once, and the same client message once', async () => {
    const chat = await openConversation(service);
    const sent: string[] = [];
    for (let n = 1; n <= 6; n += 1) sent.push(await chat.send(saying(`Number ${n}.`)));
    const [a, b] = await Promise.all(
      [1, 2].map(() => chat.send(saying('Twice.'), { clientMessageId: 'c-1' })),
    );
    expect(a).toBe(b);
    for (const [index, id] of sent.entries()) {
      expect((await chat.turn(id)).texts).toEqual([`Number ${index + 1}.`]);
    }
    expect((await chat.turn(a ?? '')).texts).toEqual(['Twice.']);
    expect(chat.named('turn_end')).toHaveLength(7);
    expect(chat.named('user_message')).toHaveLength(7);
    await endSession(service, chat);
  });

  it('stops a turn when interrupted, and continues', async () => {
    const chat = await openConversation(service);
    const message = await chat.send(hanging);
    await chat.until(({ event }) => event === 'chat_output');
    const answer = await service.call('POST', `/runs/${chat.runId}/interrupt`);
    expect(answer.status).toBe(200);
    expect(await chat.turn(message)).toMatchObject({ exitCode: 1 });
    expect(await chat.say(saying('Still here.'))).toMatchObject({ texts: ['Still here.'] });
    expect(chat.named('session_ready')).toHaveLength(1);
    await endSession(service, chat);
  });

  it('ends when stopped during a turn: undelivered messages fail, later ones get 404', async () => {
    const chat = await openConversation(service);
    const working = await chat.send(hanging);
    const waiting = await chat.send(saying('Never.'));
    await chat.until(({ event }) => event === 'chat_output');
    await service.call('POST', `/runs/${chat.runId}/stop`, { body: { graceSeconds: 1 } });
    expect(await chat.turn(working)).toMatchObject({ exitCode: 1 });
    expect(await chat.turn(waiting)).toMatchObject({ exitCode: 1 });
    await chat.closed;
    expect(await service.untilEnded(chat.runId)).toMatchObject({ error: 'stopped_by_api' });
    const { sessionId } = chat;
    const late = await service.call('POST', chatPath(), { body: { message: 'x', sessionId } });
    expect(late).toMatchObject({ status: 404, body: { error: { message: ended } } });
    const reopened = { body: { sessionId } };
    const path = `/flows/${service.flowId}/sessions`;
    const again = await service.call('POST', path, reopened);
    expect(again).toMatchObject({ status: 404, body: { error: { message: ended } } });
    expect((await service.call('GET', pathOf(chat))).data).toMatchObject({ sessionId });
    await untilRemoved(service, chat);
  });

  it('is deleted with its run', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('Here.'));
    expect((await service.call('DELETE', `/runs/${chat.runId}`)).status).toBe(200);
    await chat.closed;
    expect(JSON.parse(chat.events.at(-1)?.data ?? '')).toMatchObject({ reason: 'deleted' });
    expect((await service.call('GET', pathOf(chat))).status).toBe(404);
    await untilRemoved(service, chat);
  });

  it('ends after consecutive sandbox losses, and does not count a loss that it recovered from', async () => {
    const chat = await openConversation(service);
    const dyingOnce = 'test -e once || { touch once; kill -9 $PPID; }';
    const gotOver = await chat.send(script([{ shell: dyingOnce }, { say: 'Got over.' }]));
    expect(await chat.turn(gotOver)).toMatchObject({ exitCode: 0, texts: ['Got over.'] });
    const dying = script([{ exit: 3 }]);
    const sent = [
      await chat.send(dying),
      await chat.send(dying),
      await chat.send(saying('Never.')),
    ];
    await chat.closed;
    const ends = chat.named('turn_end').slice(1);
    expect(ends.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject(
      sent.map((messageId) => ({ messageId, exitCode: 1, error: expect.any(String) as string })),
    );
    expect(chat.named('session_ready')).toHaveLength(4);
    expect(JSON.parse(chat.events.at(-1)?.data ?? '')).toMatchObject({ reason: 'error' });
    expect(await service.untilEnded(chat.runId)).toMatchObject({
      error: 'max_reconnects_exceeded',
    });
    await untilRemoved(service, chat);
  });

  it('queues fifty messages and rejects the next one', async () => {
    const chat = await openConversation(service);
    await chat.send(hanging);
    await chat.until(({ event }) => event === 'chat_output');
    for (let n = 0; n < 50; n += 1) await chat.send('waits');
    const { sessionId } = chat;
    const over = await service.call('POST', chatPath(), { body: { message: 'x', sessionId } });
    expect(over.status).toBe(429);
    expect(over.body).toMatchObject({ error: { code: 'QUEUE_FULL', limit: 50, current: 50 } });
    expect((await service.call('GET', pathOf(chat))).data).toMatchObject({ queued: 50 });
    await endSession(service, chat);
    expect(chat.named('turn_end')).toHaveLength(51);
  });
});

describe('the slots of a project', patiently, () => {
  it('are freed for new work if a session is idle, and not while all are working', async () => {
    await limitTo(2);
    const [a, b] = [await openConversation(service), await openConversation(service)];
    await a.say(saying('a'));
    await b.say(saying('b'));
    const c = await openConversation(service);
    expect(await c.say(saying('c'))).toMatchObject({ exitCode: 0 });
    expect(await service.readRun(a.runId)).toMatchObject({ status: 'sleep' });
    await b.send(hanging);
    await c.send(hanging);
    const body = { message: 'x', sessionId: a.sessionId };
    const refused = await service.call('POST', chatPath(), { body });
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'CONCURRENT_LIMIT', limit: 2, current: 2 } },
    });
    expect((await service.call('GET', pathOf(a))).data).toMatchObject({ queued: 0 });
    await endSession(service, b);
    expect(await a.say(saying('a again'))).toMatchObject({ texts: ['a again'] });
    const run = await service.call('POST', `/flows/${service.flowId}/runs`, {
      body: { prompt: saying('run') },
    });
    expect(run.status).toBe(201);
    expect(await service.readRun(a.runId)).toMatchObject({ status: 'sleep' });
    await Promise.all([endSession(service, a), endSession(service, c)]);
    await limitTo(20);
  });
});

async function limitTo(maxConcurrentRuns: number): Promise<void> {
  const sealer = createSealer(service.encryptionKey);
  const projects = createProjectStore(service.database.pool, sealer);
  await projects.update(service.projectId, { maxConcurrentRuns });
}
