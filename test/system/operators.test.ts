import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointEvents } from '../../core/webhook.ts';
import { openConversation } from '../support/conversation.ts';
import { endOf } from '../support/end-of-workflow.ts';
import { addEndpoint, removeEndpoint } from '../support/endpoints.ts';
import { script } from '../support/prompts.ts';
import { asking, colour, questionsOf } from '../support/questions.ts';
import { expectSigned, postsOf, untilPosted } from '../support/received-webhook.ts';
import { endSession, untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { serviceProcess } from '../support/service-process.ts';
import { stackEnv } from '../support/stack-env.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

let service: Service;
let receiver: WebhookReceiver;
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  receiver = await startReceiver();
  service = await startService({ env: { RECONCILE_EVERY_MS: '500' } });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await Promise.all([connection?.close(), receiver?.close()]);
});

const patiently = { timeout: 60_000 };
const working = script([{ say: 'working' }, { hang: true }]);

/** An active run, and the handle of its workflow as in Temporal's own tools. */
async function runAtWork() {
  const { runId } = await service.trigger({ prompt: working, callbackUrl: `${receiver.url}/` });
  await untilWorking(service, { runId });
  return { runId, handle: await workflowOf(runId) };
}

const workflowOf = async (runId: string) =>
  new Client({ connection }).workflow.getHandle(await workflowIdOf(service, runId));

type Handle = Awaited<ReturnType<typeof workflowOf>>;

/** Resets to the first task, like the menu of the workflow's page. */
async function reset(handle: Handle): Promise<void> {
  const { runId: execution } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await connection.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId: execution },
    reason: 'test',
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
    requestId: randomUUID(),
  });
}

async function expectEndedByOperator(runId: string): Promise<void> {
  expect(await service.untilEnded(runId)).toMatchObject({
    status: 'sleep',
    error: 'terminated_by_operator',
  });
  await expect.poll(() => service.sandboxes.list(), patiently).toEqual([]);
  await untilPosted(receiver, { runId }, 1);
  expect(JSON.parse(postsOf(receiver, { runId })[0]?.body ?? '')).toMatchObject({
    error: 'terminated_by_operator',
  });
}

describe('an operator, in Temporal’s own tools', { timeout: 180_000 }, () => {
  it('ends a run by terminating its workflow: sandbox, slot and webhook included', async () => {
    const { runId, handle } = await runAtWork();
    await handle.terminate('test');
    await expectEndedByOperator(runId);
  });

  it('ends a run by cancelling its workflow', async () => {
    const { runId, handle } = await runAtWork();
    await handle.cancel();
    await expectEndedByOperator(runId);
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
  });

  it('starts nothing again by resetting the workflow of an ended run', async () => {
    const { runId, handle } = await runAtWork();
    await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
    await endOf(handle);
    const ended = await service.readRun(runId);
    await reset(handle);
    const again = await workflowOf(runId);
    expect(await endOf(again)).toEqual({ status: 'CANCELLED', cause: 'stopped_by_api' });
    expect(await service.sandboxes.list()).toEqual([]);
    expect(await service.readRun(runId)).toEqual(ended);
    expect(postsOf(receiver, { runId })).toHaveLength(1);
  });
});

describe('a workflow that an operator resets while its sandbox is up', { timeout: 180_000 }, () => {
  it('continues with the sandbox of its run, starts no other, and ends once', async () => {
    const { runId, handle } = await runAtWork();
    const before = await service.sandboxes.list();
    await reset(handle);
    const again = await workflowOf(runId);
    const isFollowed = async () =>
      (await again.describe()).raw.pendingActivities?.some(
        ({ activityType }) => activityType?.name === 'followRun',
      );
    await expect.poll(isFollowed, patiently).toBe(true);
    expect(containersOf(await service.sandboxes.list())).toEqual(containersOf(before));
    expect((await service.readRun(runId)).agentStatus).toBe('working');

    await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
    expect(await service.untilEnded(runId)).toMatchObject({ error: 'stopped_by_api' });
    expect(await endOf(again)).toEqual({ status: 'CANCELLED', cause: 'stopped_by_api' });
    await untilPosted(receiver, { runId }, 1);
    await expect.poll(() => service.sandboxes.list(), patiently).toEqual([]);
  });
});

describe('a session that an operator ends in Temporal’s own tools', { timeout: 180_000 }, () => {
  it.each(['cancel', 'terminate'] as const)('ends by %s, with its sandbox', async (how) => {
    const { chat, handle } = await sessionAtRest();
    await handle[how]();
    await chat.closed;
    expect(await service.readRun(chat.runId)).toMatchObject({ error: 'terminated_by_operator' });
    await expect.poll(() => service.sandboxes.list(), patiently).toEqual([]);
  });

  it('answers a message after a reset once, and ends once', async () => {
    const { chat, handle } = await sessionAtRest();
    await reset(handle);
    expect(await chat.say(script([{ say: 'two' }]))).toMatchObject({ texts: ['two'] });
    expect(await service.sandboxes.list()).toHaveLength(1);
    await service.call('DELETE', `/flows/${service.flowId}/sessions/${chat.sessionId}`);
    await chat.closed;
    expect(chat.named('turn_end')).toHaveLength(2);
    expect(chat.named('finished')).toHaveLength(1);
    await expect.poll(() => service.sandboxes.list(), patiently).toEqual([]);
  });
});

/** A session that has answered once, with its sandbox up. */
async function sessionAtRest() {
  const chat = await openConversation(service);
  await chat.say(script([{ say: 'one' }]));
  return { chat, handle: await workflowOf(chat.runId) };
}

const containersOf = (sandboxes: { containerId: string }[]): string[] =>
  sandboxes.map(({ containerId }) => containerId);

describe('an endpoint of a project', { timeout: 180_000 }, () => {
  it('gets the events of a run and of a session, each once and signed', async () => {
    const { projectId, database } = service;
    const endpoint = { projectId, url: `${receiver.url}/events`, eventTypes: [...endpointEvents] };
    const endpointId = await addEndpoint(database.pool, endpoint);
    const { runId } = await service.trigger({ prompt: script([{ say: 'done' }]) });
    const chat = await openConversation(service, { callbackUrl: `${receiver.url}/session` });
    const messageId = await chat.send(asking([colour]));
    const { untilAsked, answer } = questionsOf(() => service);
    const [question] = await untilAsked(chat.runId);
    await answer(chat.runId, question?.interactionId ?? '', { 'Which colour?': 'Blue' });
    await chat.turn(messageId);
    await untilPosted(receiver, chat, 4);
    await endSession(service, chat);
    await service.untilEnded(runId);
    const ofSession = ['interaction.asked', 'session.ended', 'session.idle'];
    await expectEvents(chat, '/session', ofSession);
    await expectEvents(chat, '/events', ofSession);
    await expectEvents({ runId }, '/events', ['run.finished', 'run.started']);
    await removeEndpoint(database.pool, endpointId);
  });

  async function expectEvents(of: { runId: string }, path: string, events: string[]) {
    const posts = () => postsOf(receiver, of).filter((post) => post.path === path);
    const received = () => posts().map(({ headers }) => headers['x-service-event']);
    await expect.poll(() => received().sort(), { timeout: 60_000 }).toEqual(events);
    for (const post of posts()) {
      expect(post.headers['x-service-attempt']).toBe('1');
      await expectSigned(service, post);
    }
  }

  it('is notified of a delivery that was dropped', async () => {
    const { projectId, database } = service;
    // An attempt to reach this address is blocked, so there is no further one.
    const blocked = { projectId, url: 'https://10.1.2.3/', eventTypes: ['run.started' as const] };
    const endpoint = {
      ...{ projectId, url: `${receiver.url}/dropped` },
      eventTypes: ['delivery.dropped' as const],
    };
    const made = [blocked, endpoint].map((one) => addEndpoint(database.pool, one));
    const [unreachable, other] = await Promise.all(made);
    const { runId } = await service.trigger({ prompt: script([{ say: 'done' }]) });
    await untilPosted(receiver, { runId }, 1);
    const [post] = postsOf(receiver, { runId });
    expect(JSON.parse(post?.body ?? '')).toMatchObject({
      ...{ runId, event: 'run.started', endpointId: unreachable, attempts: 1, lastStatus: null },
    });
    for (const one of [unreachable, other]) await removeEndpoint(database.pool, one ?? '');
  });
});

describe('a second worker on the same data folder', { timeout: 180_000 }, () => {
  it('refuses to start, explains why, and does not affect the first', async () => {
    const second = service.anotherWorker();
    await expect(second.start()).rejects.toThrow('another worker is using the data folder');
    expect(await second.exited()).toMatchObject({ code: 1 });
    const { runId } = await service.trigger({ prompt: script([{ say: 'well' }]) });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
  });
});

describe('a program with incomplete settings', { timeout: 180_000 }, () => {
  it.each(['api', 'worker'])('reports the missing settings: %s', async (name) => {
    const poor = serviceProcess({
      name: `poor-${name}`,
      program: `${name}/main.js`,
      env: { PATH: process.env['PATH'] ?? '' },
      logDir: service.dataDir,
      ready: () => false,
    });
    await expect(poor.start()).rejects.toThrow('DATABASE_URL');
    expect(await poor.exited()).toMatchObject({ code: 1 });
  });
});
