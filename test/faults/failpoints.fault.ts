import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Failpoint } from '../../core/failpoint.ts';
import { randomText } from '../fixtures/scripted-agent/random-text.ts';
import {
  type Answer,
  type ApiClient,
  createApiClient,
  type RunRecord,
} from '../support/api-client.ts';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import type { RunRecords } from './run-records.ts';
import { failpointsOf } from './support/failpoints-of.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { followRun } from './support/transcript.ts';
import { waitForRecovery } from './support/wait-for-recovery.ts';

let fixture: FaultFixture;
/** An API that does not die. */
let otherApi: ApiClient;
beforeAll(async () => {
  fixture = await startFaultFixture({
    behave: (response, { path }) => response.writeHead(path === '/rejected' ? 500 : 204).end(),
  });
  const { api, url } = await fixture.service.anotherApi();
  await api.start();
  otherApi = createApiClient({ ...fixture.service, url });
});
beforeEach(() => restartStopped(fixture.service));
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;

const shape = { seed: 5, longEvery: 20 };
const lines = 100;
const talking = script([
  { say: 'first' },
  { lines, ...shape },
  { write: { path: '/workspace/notes/a.txt', content: 'Grüße' } },
  { say: 'last' },
]);
const hanging = script([{ say: 'working' }, { hang: true }]);

const atTrigger = failpointsOf('trigger');
const atStopRequest = failpointsOf('stop_request', 'delete');
/** Failpoints of a run that neither is stopped nor waits. Other files test the rest. */
const duringRun = failpointsOf(
  'start',
  'config',
  'prompt',
  'log',
  'end',
  'workspace',
  'remove',
  'webhook',
);

function expectTurns({ run, log }: RunRecords): void {
  const logged = log
    .filter(({ event }) => event === 'assistant')
    .map(({ data }) => (JSON.parse(data) as AssistantLine).message.content[0]?.text)
    .filter((text) => text !== undefined);
  const texts = Array.from({ length: lines }, (_, index) => randomText(index, shape));
  expect(logged).toEqual(['first', ...texts, 'last']);
  expect(run).toMatchObject({ endCause: 'completed', exitCode: 0, result: 'last' });
  expect(log[0]).toMatchObject({ event: 'agent_status', data: '{"status":"idle"}' });
}

interface AssistantLine {
  message: { content: { text?: string }[] };
}

/** `isAnswered`: the request is answered before, or while, the API dies. */
async function requestAgain(request: () => Promise<Answer<RunRecord>>, isAnswered = false) {
  if (isAnswered) await request().catch(() => undefined);
  else await expect(request()).rejects.toThrow();
  const startedAt = await restartAfterFailpoint(fixture.service.api);
  return { answer: await request(), startedAt };
}

describe('a run whose API dies', () => {
  it.each(atTrigger)('at %s starts once', async (name) => {
    const { service } = fixture;
    await restartWithFailpoint(service.api, name);
    const path = `/flows/${service.flowId}/runs`;
    const headers = { 'idempotency-key': name };
    const body = { prompt: talking, callbackUrl: `${fixture.receiver.url}/hook` };
    const isAnswered = name === 'trigger.started' || name === 'trigger.marked';
    const { answer, startedAt } = await requestAgain(
      () => service.call('POST', path, { body, headers }),
      isAnswered,
    );
    expect(answer.status).toBe(name === 'trigger.received' ? 201 : 200);
    const { runId } = answer.data;
    const client = fixture.follow(runId, { name: 'late client' });
    const records = await waitForRecovery(fixture, runId, { clients: [client], startedAt });
    expectTurns(records);
    expect(records.posts).toHaveLength(1);
    expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
    const known = 'select id from runs where workflow_id like $1';
    const { rows } = await service.database.pool.query(known, [`%/${name}/%`]);
    expect(rows).toEqual([{ id: runId }]);
  });

  it.each(atStopRequest)('at %s ends as requested', async (name) => {
    const { service } = fixture;
    const runId = await fixture.trigger(hanging);
    const steadyClient = followRun(otherApi, runId, { name: 'steady client' });
    const reconnectingClient = fixture.follow(runId, { name: 'reconnecting client' });
    await Promise.all(
      [steadyClient, reconnectingClient].map((client) => client.untilFrames(3, timeoutMs)),
    );
    await restartWithFailpoint(service.api, name);
    const isStop = name.startsWith('stop_request.');
    const endRun = (): Promise<Answer<RunRecord>> =>
      isStop
        ? service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 1 } })
        : service.call('DELETE', `/runs/${runId}`);
    const { answer, startedAt } = await requestAgain(endRun);
    expect(answer.status).toBe(isStop ? 200 : 404);
    // A client that reconnects receives nothing of a deleted run.
    const clients = isStop ? [steadyClient, reconnectingClient] : [steadyClient];
    const { run, posts } = await waitForRecovery(fixture, runId, { clients, startedAt });
    reconnectingClient.leave();
    expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
    expect(run.endCause).toBe(isStop ? 'stopped_by_api' : 'deleted_by_api');
    expect(posts).toHaveLength(1);
    expect(steadyClient.transcript.connections).toHaveLength(1);
    const end = steadyClient.transcript.connections[0]?.events.at(-1);
    expect(end?.event).toBe('finished');
    expect(JSON.parse(end?.data ?? '')).toMatchObject({ reason: isStop ? 'stopped' : 'deleted' });
  });
});

describe('a run whose worker dies', () => {
  it.each(duringRun)('at %s continues and succeeds', async (name) => {
    const { service, receiver } = fixture;
    await restartWithFailpoint(service.worker, name);
    const isWebhookRejected = name === 'webhook.dropped';
    const { runId } = await service.trigger({
      prompt: talking,
      callbackUrl: `${receiver.url}${isWebhookRejected ? '/rejected' : '/hook'}`,
    });
    const clients = [fixture.follow(runId, { name: 'steady client' })];
    const startedAt = await restartAfterFailpoint(service.worker);
    const records = await waitForRecovery(fixture, runId, {
      clients,
      startedAt,
      isWebhookRejected,
    });
    expectTurns(records);
    expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
    expect(records.posts.length).toBe(postsWith(name));
    const files = 'select path from run_files where run_id = $1';
    const { rows } = await service.database.pool.query(files, [runId]);
    expect(rows).toEqual([{ path: 'notes/a.txt' }]);
  });
});

/** A second post after a success only if the worker died between sending and recording. */
function postsWith(name: Failpoint): number {
  if (name === 'webhook.dropped') return 4;
  return name === 'webhook.sent' ? 2 : 1;
}
