import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import type { RunRecord } from '../support/api-client.ts';
import { openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import {
  expectBody,
  expectSigned,
  postsOf,
  untilPosted,
  untilWebhook,
} from '../support/received-webhook.ts';
import { endSession, untilRemoved, untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { answerWith, startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver()]);
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 180_000 };
const working = script([{ say: 'working' }, { hang: true }]);

describe('a run over HTTP', patiently, () => {
  it('ends with the exit code of its agent', async () => {
    const { runId } = await service.trigger({ prompt: script([{ say: 'no' }, { exit: 7 }]) });
    const events = await collect(service.stream(runId));
    expect(lastOf(events)).toMatchObject({ event: 'finished', reason: 'error', exitCode: 7 });
    expect(await service.untilEnded(runId)).toMatchObject({
      status: 'sleep',
      exitCode: 7,
      error: 'Process exited with code 7',
    });
  });

  it('is stopped on request, once, and reports it', async () => {
    const { runId } = await service.trigger({ prompt: working });
    await untilWorking(service, { runId });
    const body = { graceSeconds: 1 };
    const first = await service.call<RunRecord>('POST', `/runs/${runId}/stop`, { body });
    expect(first.status).toBe(200);
    const again = await service.call('POST', `/runs/${runId}/stop`, { body });
    expect(again.status).toBe(200);
    const ended = await service.untilEnded(runId);
    expect(ended).toMatchObject({ status: 'sleep', error: 'stopped_by_api' });
    await untilRemoved(service, { runId });
  });

  it('is deleted on request, with its container', async () => {
    const { runId } = await service.trigger({ prompt: working });
    await untilWorking(service, { runId });
    const events = service.stream(runId)[Symbol.asyncIterator]();
    await events.next(); // the reader is connected before the run is deleted
    const stream = collect({ [Symbol.asyncIterator]: () => events });
    const deleted = await service.call('DELETE', `/runs/${runId}`);
    expect(deleted).toMatchObject({ status: 200, data: { runId, deleted: true } });
    expect((await service.call('DELETE', `/runs/${runId}`)).status).toBe(404);
    expect((await service.call('GET', `/runs/${runId}`)).status).toBe(404);
    expect(lastOf(await stream)).toMatchObject({ event: 'finished', reason: 'deleted' });
    await untilRemoved(service, { runId });
  });

  it('can end before its sandbox has started, and leaves none behind', async () => {
    const { runId } = await service.trigger({ prompt: working });
    expect((await service.call('POST', `/runs/${runId}/stop`)).status).toBe(200);
    expect(await service.untilEnded(runId)).toMatchObject({ error: 'stopped_by_api' });
    await untilRemoved(service, { runId });
  });

  it('is started once for repeated triggers with the same key', async () => {
    const headers = { 'idempotency-key': `order-${service.instance}` };
    const path = `/flows/${service.flowId}/runs`;
    const body = { prompt: script([{ say: 'once' }]), labels: { order: '7' } };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.call<RunRecord>('POST', path, { body, headers })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ data }) => data.runId)).size).toBe(1);
    const runId = answers[0]?.data.runId ?? '';
    await service.untilEnded(runId);
    const replay = await service.call<RunRecord>('POST', path, {
      body: { prompt: 'other' },
      headers,
    });
    expect(replay).toMatchObject({ status: 200, data: { runId, labels: { order: '7' } } });
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
  });

  it('ends at its time limit', async () => {
    const flows = createFlowStore(service.database.pool, createSealer(service.encryptionKey));
    const { projectId } = service;
    const { flowId } = await flows.create({ projectId, name: 'Brief', timeoutSeconds: 5 });
    const body = { prompt: working };
    const { data } = await service.call<RunRecord>('POST', `/flows/${flowId}/runs`, { body });
    expect(await service.untilEnded(data.runId)).toMatchObject({ error: 'timed_out' });
  });
});

describe('the webhook of a run', patiently, () => {
  it('is sent once, with all documented fields and a valid signature', async () => {
    const steps = [{ callModel: 'Hi.' }, { say: 'done' }];
    const { runId } = await triggerWithCallback(receiver, steps, { who: 'Zoë €' });
    await service.untilEnded(runId);
    const settled = await untilWebhook(service, { runId }, 'delivered');
    expect(settled.webhook).toEqual({ state: 'delivered', attempts: 1, lastStatus: 204 });
    const posts = postsOf(receiver, { runId });
    expect(posts).toHaveLength(1);
    const [post] = posts;
    expect(post?.headers).toMatchObject({
      'x-service-event': 'run.finished',
      'x-service-attempt': '1',
      'user-agent': 'Service-Webhook/1.0',
      'content-type': 'application/json',
    });
    const { startedAt, finishedAt, costUsd, usage } = settled;
    expect([startedAt, finishedAt]).toEqual([aMoment, aMoment]);
    expect(costUsd).toBeGreaterThan(0);
    expect(usage['outputTokens']).toBeGreaterThan(0);
    expectBody(service, post, {
      ...{ runId, agentStatus: 'idle', startedAt, finishedAt, exitCode: 0, result: 'done' },
      ...{ costUsd, usage, labels: { who: 'Zoë €' }, files: allStored },
    });
    await expectSigned(service, post);
  });

  it('of a run that never started has its admission time, and null for unknown fields', async () => {
    const flowId = await flowThatWaits();
    const body = { callbackUrl: `${receiver.url}/hook`, prompt: script([{ say: 'never' }]) };
    const { data } = await service.call<RunRecord>('POST', `/flows/${flowId}/runs`, { body });
    const { runId, createdAt } = data;
    await service.call('POST', `/runs/${runId}/stop`);
    await service.untilEnded(runId);
    const settled = await untilWebhook(service, { runId }, 'delivered');
    expect(settled).toMatchObject({ agentStatus: null, startedAt: null, finishedAt: aMoment });
    const posts = postsOf(receiver, { runId });
    expect(posts).toHaveLength(1);
    expectBody(service, posts[0], {
      ...{ runId, flowId, agentStatus: 'error', startedAt: createdAt },
      ...{ finishedAt: settled.finishedAt, error: 'stopped_by_api', exitCode: null, result: null },
      ...{ costUsd: null, usage: settled.usage, labels: {}, files: null },
    });
    expect(new Set(Object.values(settled.usage))).toEqual(new Set([0]));
    await expectSigned(service, posts[0]);
  });

  it('has the cause of a deleted run', async () => {
    const { runId } = await triggerWithCallback(receiver, [{ say: 'working' }, { hang: true }]);
    await untilWorking(service, { runId });
    await service.call('DELETE', `/runs/${runId}`);
    await untilPosted(receiver, { runId }, 1);
    const [post] = postsOf(receiver, { runId });
    expect(JSON.parse(post?.body ?? '')).toMatchObject({ runId, error: 'deleted_by_api' });
  });

  it('is retried with the same bytes and a fresh signature', async () => {
    const answers = [500, 204];
    const moody = await startReceiver((response, post) =>
      answerWith(answers.shift() ?? 204)(response, post),
    );
    const { runId } = await triggerWithCallback(moody, [{ say: 'done' }]);
    await service.untilEnded(runId);
    await untilPosted(moody, { runId }, 2);
    await moody.close();
    const [first, second] = moody.posts;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['x-service-delivery-id']).toBe(first?.headers['x-service-delivery-id']);
    expect(second?.headers['x-service-attempt']).toBe('2');
    expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature']);
    await expectSigned(service, second);
  });
});

describe('the webhook of a session', patiently, () => {
  const opening = () => ({ callbackUrl: `${receiver.url}/session`, labels: { who: 'Zoë €' } });

  it('is sent once, at the end of the session and not of its turns', async () => {
    const chat = await openConversation(service, opening());
    const ended = () =>
      postsOf(receiver, chat).filter(
        ({ headers }) => headers['x-service-event'] === 'session.ended',
      );
    for (const say of ['One.', 'Two.']) await chat.say(script([{ callModel: 'Hi.' }, { say }]));
    expect(await service.readRun(chat.runId)).toMatchObject({ webhook: { state: 'waiting' } });
    expect(ended()).toEqual([]);
    await endSession(service, chat);
    const settled = await untilWebhook(service, chat, 'delivered');
    expect(settled.webhook).toEqual({ state: 'delivered', attempts: 1, lastStatus: 204 });
    const posts = ended();
    expect(posts).toHaveLength(1);
    const { runId, sessionId } = chat;
    const { agentStatus, startedAt, finishedAt, exitCode, costUsd, usage, files } = settled;
    expectBody(service, posts[0], {
      ...{ runId, sessionId, agentStatus, startedAt, finishedAt, exitCode, costUsd, usage, files },
      ...{ error: 'stopped_by_api', result: 'Two.', labels: { who: 'Zoë €' } },
    });
    await expectSigned(service, posts[0]);
  });

  it('has the cause of a session that was deleted before its first message', async () => {
    const { runId, sessionId } = await openConversation(service, opening());
    await service.call('DELETE', `/runs/${runId}`);
    await untilPosted(receiver, { runId }, 1);
    const [post] = postsOf(receiver, { runId });
    const body: unknown = JSON.parse(post?.body ?? '');
    expect(body).toMatchObject({ runId, sessionId, error: 'deleted_by_api' });
  });
});

const allStored = { state: 'stored', skippedCount: 0, skipped: [] };
const aMoment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Its runs wait for a slot on a host without free ones. */
async function flowThatWaits(): Promise<string> {
  const { database, projectId, encryptionKey } = service;
  const host = { hostId: `full-${service.instance}`, name: 'Full', capacity: 0 };
  await createHostStore(database.pool).renew(host);
  const flows = createFlowStore(database.pool, createSealer(encryptionKey));
  return (await flows.create({ projectId, name: 'Waits', runner: host.hostId })).flowId;
}

function lastOf(events: { event: string; data: string }[]): Record<string, unknown> {
  const { event, data } = events.at(-1) ?? { event: '', data: '{}' };
  return { event, ...(JSON.parse(data) as Record<string, unknown>) }; // `finished` is an object
}

function triggerWithCallback(
  to: WebhookReceiver,
  steps: readonly unknown[],
  labels: Record<string, string> = {},
): Promise<RunRecord> {
  return service.trigger({ prompt: script(steps), callbackUrl: `${to.url}/hook`, labels });
}
