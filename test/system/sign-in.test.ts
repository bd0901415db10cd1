import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OfflineModel, startOfflineModel } from '../../offline-model/server.ts';
import {
  firstLink,
  type OperatorCall,
  signInBy,
  signInByFirstLink,
} from '../support/operator-client.ts';
import { script } from '../support/prompts.ts';
import {
  isSignedWith,
  isStandardSignedWith,
  postsOf,
  untilPosted,
  untilWebhook,
} from '../support/received-webhook.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { openStream } from '../support/sse-client.ts';
import { stackEnv } from '../support/stack-env.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
let other: { url: string; api: ServiceProcess };
let operator: OperatorCall;
let project: string;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver()]);
  project = `/api/projects/${service.projectId}`;
  operator = await signInByFirstLink(service);
  other = await service.anotherApi();
  await other.api.start();
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 120_000 };
const working = script([{ say: 'working' }, { hang: true }]);
const callWith = (url: string, key: string) =>
  fetch(`${url}/api/v1/flows`, { headers: { authorization: `Bearer ${key}` } });

async function newKey(given: object = {}): Promise<{ key: string; keyId: string }> {
  const made = await operator('POST', `${project}/keys`, { body: { name: 'second', ...given } });
  return made.data as { key: string; keyId: string };
}

async function runAtWork(): Promise<string> {
  const { runId } = await service.trigger({ prompt: working });
  await untilWorking(service, { runId });
  return runId;
}

async function expectClosedWithin15s(streams: { closed: Promise<unknown> }[]): Promise<void> {
  const began = performance.now();
  await Promise.all(streams.map(({ closed }) => closed));
  expect(performance.now() - began).toBeLessThan(15_000);
}

describe('operators, over two processes of the API', patiently, () => {
  it('sign in by the link that the first start has printed, once, and a second start prints none', async () => {
    expect((await operator('GET', '/api/me')).data).toMatchObject({ name: 'operator' });
    expect((await operator('GET', '/api/me', { url: other.url })).status).toBe(200);
    expect(firstLink(other.api.log())).toBeUndefined();
    const used = firstLink(service.api.log()) ?? '';
    await expect(signInBy(service, used)).rejects.toThrow('UNAUTHORIZED');
  });

  it('revoke a key on every process at once; its streams close, others and the run continue', async () => {
    const { key, keyId } = await newKey();
    const runId = await runAtWork();
    const path = `/api/v1/runs/${runId}/stream`;
    const urls = [service.url, other.url];
    const doomed = await Promise.all(urls.map((url) => openStream(`${url}${path}`, { key })));
    doomed.push(await openStream(`${other.url}${path}?api_key=${key}`, { key: null }));
    const kept = await openStream(`${other.url}${path}`, { key: service.key });
    await Promise.all(doomed.map((stream) => stream.until((events) => events.length > 0)));

    const revoked = await operator('DELETE', `${project}/keys/${keyId}`, { url: other.url });
    expect(revoked.data).toMatchObject({ state: 'revoked' });
    for (const url of urls) expect((await callWith(url, key)).status).toBe(401);
    await expectClosedWithin15s(doomed);
    for (const stream of doomed) expect(stream.names()).not.toContain('finished');
    expect(kept.isClosed()).toBe(false);
    expect(await service.readRun(runId)).toMatchObject({ status: 'running', finishedAt: null });
    await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
    await kept.closed;
    expect(kept.names()).toContain('finished');
  });

  it('see a key’s streams close when it expires, and its run continue', async () => {
    const runId = await runAtWork();
    const expiresAt = new Date(Date.now() + 15_000);
    const { key } = await newKey({ expiresAt: expiresAt.toISOString() });
    const stream = await openStream(`${other.url}/api/v1/runs/${runId}/stream`, { key });
    await stream.until((events) => events.length > 0);
    await expect.poll(async () => (await callWith(service.url, key)).status).toBe(401);
    await expectClosedWithin15s([stream]);
    expect(await service.readRun(runId)).toMatchObject({ finishedAt: null });
    await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  });

  it('read the usage of a key, counted over all processes', async () => {
    const { key, keyId } = await newKey();
    for (const url of [service.url, other.url, other.url]) await callWith(url, key);
    await fetch(`${other.url}/api/v1/runs/${randomUUID()}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const usage = async () => (await operator('GET', `${project}/keys/${keyId}/usage`)).data;
    await expect
      .poll(async () => (await usage()).days.at(-1), { timeout: 60_000 })
      .toMatchObject({ calls: 4, errors: 1 });
    const record = (await operator('GET', `${project}/keys/${keyId}`)).data;
    expect(Date.parse(record.lastUsedAt)).toBeGreaterThan(Date.parse(record.createdAt));
  });
});

describe('a project with its own model', patiently, () => {
  let own: OfflineModel;
  beforeAll(async () => {
    own = await startOfflineModel();
  });
  afterAll(() => own?.close());

  const keysSeenBy = (model: OfflineModel) =>
    model.requests().map(({ headers }) => headers['x-api-key']);
  const askModel = async () => {
    const { runId } = await service.trigger({ prompt: script([{ model: 'hello' }]) });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    return runId;
  };

  it('uses it for its runs: its key goes only to its address, and the service’s key to neither', async () => {
    const apiKey = 'sk-own-canary-0123456789';
    const before = service.model.requests().length;
    const model = { apiKey, baseUrl: own.url };
    const set = await operator('PATCH', `${project}/settings`, { body: { model } });
    expect(set.data.model).toEqual({ baseUrl: own.url });
    const runId = await askModel();
    expect(keysSeenBy(own)).toEqual([apiKey]);
    expect(service.model.requests()).toHaveLength(before);

    await operator('PATCH', `${project}/settings`, { body: { model: null } });
    await askModel();
    expect(own.requests()).toHaveLength(1);
    expect(keysSeenBy(service.model).at(-1)).toBe(service.modelKey);

    const logs = await service.call('GET', `/runs/${runId}/logs?format=structured&channel=all`);
    for (const text of [JSON.stringify(logs.body), service.api.log(), service.worker.log()]) {
      expect(text).not.toContain(apiKey);
    }
  });
});

describe('runs that an operator manages', patiently, () => {
  it('are redelivered on request: the same body and id, signed with the current secret', async () => {
    const callbackUrl = `${receiver.url}/again`;
    const { runId } = await service.trigger({ prompt: script([{ say: 'well' }]), callbackUrl });
    await untilPosted(receiver, { runId }, 1);
    const secret = (await operator('GET', `${project}/webhook-secret`)).data.webhookSecret;
    const immediately = { body: { immediately: true } };
    const replaced = (await operator('POST', `${project}/webhook-secret/rotate`, immediately)).data;
    const rotated = replaced.webhookSecret;
    const next = (await operator('POST', `${project}/webhook-secret/next`)).data.nextWebhookSecret;
    await untilWebhook(service, { runId }, 'delivered');

    const redelivery = await operator('POST', `${project}/runs/${runId}/webhook/redeliver`);
    expect([redelivery.status, redelivery.data]).toEqual([202, { runId, delivery: 1 }]);
    await untilPosted(receiver, { runId }, 2);
    const [first, second] = postsOf(receiver, { runId });
    if (!first || !second) throw new Error('two posts were counted');
    expect(second.body).toBe(first.body);
    expect(second.headers['x-service-delivery-id']).toBe(first.headers['x-service-delivery-id']);
    expect([isSignedWith(secret, first), isSignedWith(rotated, second)]).toEqual([true, true]);
    expect(isSignedWith(secret, second)).toBe(false);
    expect(isSignedWith(next, second, 'x-service-signature-next')).toBe(true);
    expect(first.headers).not.toHaveProperty('x-service-signature-next');
    for (const each of [rotated, next]) expect(isStandardSignedWith(each, second)).toBe(true);
    expect((await operator('POST', `${project}/webhook-secret/rotate`)).data).toMatchObject({
      ...{ webhookSecret: next, nextWebhookSecret: null },
    });
    await expect
      .poll(async () => (await operator('GET', `${project}/runs/${runId}`)).data.webhookAttempts, {
        timeout: 60_000,
      })
      .toMatchObject([
        { delivery: 0, attempt: 1, status: 204 },
        { delivery: 1, attempt: 1, status: 204, finishedAt: expect.any(String) },
      ]);
  });

  it('are started by a schedule that an operator sets, until it is removed', async () => {
    const connection = await Connection.connect({ address: stackEnv.temporalAddress });
    const prompt = script([{ say: 'by the clock' }]);
    const body = { name: 'Nightly', prompt, schedule: { cron: '0 3 1 1 *' } };
    const { flowId } = (await operator('POST', `${project}/flows`, { body })).data;
    const schedule = new Client({ connection }).schedule.getHandle(`flow/${flowId}`);
    const isThere = () =>
      schedule.describe().then(
        () => true,
        () => false,
      );
    await expect.poll(isThere, { timeout: 60_000 }).toBe(true);
    await schedule.trigger();
    const runs = async () => (await operator('GET', `${project}/runs?flowId=${flowId}`)).data;
    await expect
      .poll(runs, { timeout: 60_000 })
      .toMatchObject([
        { triggerType: 'schedule', exitCode: 0, createdBy: { keyName: 'schedule' } },
      ]);
    const path = `${project}/flows/${flowId}`;
    await operator('PATCH', path, { body: { schedule: null } });
    await expect.poll(isThere, { timeout: 60_000 }).toBe(false);
    await connection.close();
  });

  it('are started manually, in the operator’s name', async () => {
    const path = `${project}/flows/${service.flowId}/runs`;
    const made = await operator('POST', `${path}?wait=60`, {
      body: { prompt: script([{ say: 'by hand' }]) },
    });
    expect([made.status, made.data]).toMatchObject([
      201,
      {
        triggerType: 'dashboard',
        createdBy: { keyName: 'dashboard', createdBy: 'operator' },
        exitCode: 0,
      },
    ]);
  });
});
