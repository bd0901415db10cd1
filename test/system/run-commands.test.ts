import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { RunRecord } from '../support/api-client.ts';
import { script } from '../support/prompts.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver()]);
  const projects = createProjectStore(service.database.pool, createSealer(service.encryptionKey));
  await projects.update(service.projectId, { maxConcurrentRuns: 1 });
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 180_000 };
const working = script([{ say: 'working' }, { hang: true }]);
const runsPath = () => `/flows/${service.flowId}/runs`;

const list = async (query: string) =>
  (await service.call<RunRecord[]>('GET', `/runs?${query}`)).data.map(({ runId }) => runId);

describe('a run that is interrupted and run again', patiently, () => {
  let first: RunRecord;

  it('occupies the only slot: a second run is rejected, and nothing is started for it', async () => {
    const callbackUrl = `${receiver.url}/hook`;
    first = await service.trigger({ prompt: working, callbackUrl, labels: { order: '7' } });
    await untilWorking(service, first);
    const refused = await service.call('POST', runsPath(), { body: { prompt: working } });
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'CONCURRENT_LIMIT', limit: 1, current: 1 } },
    });
    expect(await list('')).toEqual([first.runId]);
    const containers = await service.sandboxes.list();
    expect(containers.map(({ runId }) => runId)).toEqual([first.runId]);
  });

  it('is found among the active runs by its label, also after the label changed', async () => {
    const found = 'status=running&agentStatus=working&label=order:7';
    expect(await list(found)).toEqual([first.runId]);
    const path = `/runs/${first.runId}/labels`;
    const body = { labels: { order: null, ticket: '8' } };
    const changed = await service.call<RunRecord>('PATCH', path, { body });
    expect(changed.data.labels).toEqual({ ticket: '8' });
    expect(await list(found)).toEqual([]);
    expect(await list('label=ticket:8')).toEqual([first.runId]);
  });

  it('ends as interrupted, in the record, on the stream and in the webhook', async () => {
    const stream = collect(service.stream(first.runId));
    const path = `/runs/${first.runId}/interrupt`;
    const answers = await Promise.all([service.call('POST', path), service.call('POST', path)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const error = 'interrupted_by_api';
    expect(await service.untilEnded(first.runId)).toMatchObject({ status: 'sleep', error });
    expect(JSON.parse((await stream).at(-1)?.data ?? '')).toMatchObject({ reason: 'stopped' });
    await expect.poll(() => receiver.posts.length, { timeout: 30_000 }).toBe(1);
    const posted = JSON.parse(receiver.posts[0]?.body ?? '');
    expect(posted).toMatchObject({ runId: first.runId, error, labels: { ticket: '8' } });
    const after = await service.call<RunRecord>('POST', path);
    expect(after).toMatchObject({ status: 200, data: { error } });
  });

  it('is retried and completes', async () => {
    const headers = { 'idempotency-key': `again-${service.instance}` };
    const body = { prompt: script([{ say: 'done' }]) };
    const path = `/runs/${first.runId}/retry`;
    const retried = await service.call<RunRecord>('POST', path, { body, headers });
    expect(retried).toMatchObject({
      status: 201,
      data: { retryOf: first.runId, labels: { ticket: '8' } },
    });
    const { runId } = retried.data;
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'done' });
    await expect.poll(() => receiver.posts.length, { timeout: 30_000 }).toBe(2);
    expect(receiver.posts[1]?.body).toContain(runId);
    expect(await list('status=sleep')).toEqual([runId, first.runId]);
    const replay = await service.call<RunRecord>('POST', path, { body, headers });
    expect(replay).toMatchObject({ status: 200, data: { runId } });
  });
});
