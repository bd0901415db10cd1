import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Failpoint, failpoints } from '../../core/failpoint.ts';
import { randomText } from '../fake-agent/random-text.ts';
import { script } from '../scripted-agent/lines.ts';
import type { Answer, RunRecord } from '../support/api-client.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import type { Evidence } from './evidence.ts';
import type { Client } from './support/transcript.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    behave: (response, { path }) => response.writeHead(path === '/refused' ? 500 : 204).end(),
  });
});
/** Whatever became of the test before. */
beforeEach(async () => {
  const { api, worker } = world.service;
  for (const process of [api, worker]) if (!process.isRunning()) await process.start();
});
afterAll(() => world?.stop());

const patienceMs = 120_000;
/** All that must hold holds so long after the start of the process that died. */
const healedWithinMs = 60_000;

const shape = { seed: 5, longEvery: 20 };
const lines = 100;
const talking = script([
  { say: 'first' },
  { lines, ...shape },
  { write: { path: '/workspace/notes/a.txt', content: 'Grüße' } },
  { say: 'last' },
]);
const hanging = script([{ say: 'working' }, { hang: true }]);

const of = (...starts: string[]): Failpoint[] =>
  failpoints.filter((name) => starts.some((start) => name.startsWith(start)));

const atTrigger = of('trigger.');
const atOrder = of('stop.', 'delete.');
const inWorker = failpoints.filter((name) => ![...atTrigger, ...atOrder].includes(name));

async function armed(process: ServiceProcess, name: Failpoint): Promise<void> {
  await process.kill('SIGTERM');
  await process.start({ FAILPOINT: name });
}

/** It must have died at the failpoint: one that nobody reaches shows nothing. */
async function diesAndComesBack(process: ServiceProcess): Promise<void> {
  const late = sleep(patienceMs, 'it lives', { ref: false });
  expect(await Promise.race([process.exited(), late])).toEqual({ code: null, signal: 'SIGKILL' });
  await process.start();
}

async function expectHealed(runId: string, clients: Client[]): Promise<Evidence> {
  await Promise.all(clients.map((client) => client.seenEnd(healedWithinMs)));
  return world.expectInvariants(runId, { clients, withinMs: healedWithinMs });
}

function expectTalk({ run, log }: Evidence): void {
  const said = log
    .filter(({ event }) => event === 'assistant')
    .map(({ data }) => (JSON.parse(data) as AssistantLine).message.content[0]?.text)
    .filter((text) => text !== undefined);
  const texts = Array.from({ length: lines }, (_, index) => randomText(index, shape));
  expect(said).toEqual(['first', ...texts, 'last']);
  expect(run).toMatchObject({ endCause: 'completed', exitCode: 0, result: 'last' });
  expect(log[0]).toMatchObject({ event: 'agent_status', data: '{"status":"idle"}' });
}

interface AssistantLine {
  message: { content: { text?: string }[] };
}

async function asksAgain(ask: () => Promise<Answer<RunRecord>>): Promise<Answer<RunRecord>> {
  await expect(ask()).rejects.toThrow();
  await diesAndComesBack(world.service.api);
  return ask();
}

describe('a run whose API dies', () => {
  it.each(atTrigger)('at %s starts once', async (name) => {
    const { service } = world;
    await armed(service.api, name);
    const path = `/flows/${service.flowId}/runs`;
    const headers = { 'idempotency-key': name };
    const body = { prompt: talking, callbackUrl: `${world.receiver.url}/hook` };
    const answer = await asksAgain(() => service.call('POST', path, { body, headers }));
    expect(answer.status).toBe(name === 'trigger.asked' ? 201 : 200);
    const { runId } = answer.data;
    const client = world.follow(runId, { name: 'who comes after' });
    expectTalk(await expectHealed(runId, [client]));
    const known = 'select id from runs where workflow_id like $1';
    const { rows } = await service.database.pool.query(known, [`%/${name}/%`]);
    expect(rows).toEqual([{ id: runId }]);
  });

  it.each(atOrder)('at %s ends as it was told', async (name) => {
    const { service } = world;
    const runId = await world.trigger(hanging);
    const client = world.follow(runId, { name: 'who stays' });
    await client.seenFrames(3, patienceMs);
    await armed(service.api, name);
    const isStop = name.startsWith('stop.');
    const order = (): Promise<Answer<RunRecord>> =>
      isStop
        ? service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 1 } })
        : service.call('DELETE', `/runs/${runId}`);
    const answer = await asksAgain(order);
    expect(answer.status).toBe(isStop ? 200 : 404);
    const { run } = await expectHealed(runId, isStop ? [client] : []);
    expect(run.endCause).toBe(isStop ? 'stopped_by_api' : 'deleted_by_api');
    client.leave();
  });
});

describe('a run whose worker dies', () => {
  it.each(inWorker)('at %s goes on and ends well', async (name) => {
    const { service, receiver } = world;
    await armed(service.worker, name);
    const path = name === 'webhook.dropped' ? '/refused' : '/hook';
    const { runId } = await service.trigger({
      prompt: talking,
      callbackUrl: `${receiver.url}${path}`,
    });
    const client = world.follow(runId, { name: 'who stays' });
    await diesAndComesBack(service.worker);
    const evidence = await expectHealed(runId, [client]);
    expectTalk(evidence);
    expect(world.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
    expect(evidence.posts.length).toBe(postsWith(name));
    const files = 'select path from run_files where run_id = $1';
    const { rows } = await service.database.pool.query(files, [runId]);
    expect(rows).toEqual([{ path: 'notes/a.txt' }]);
  });
});

/** A second post after a good one only where the worker died between sending and recording. */
function postsWith(name: Failpoint): number {
  if (name === 'webhook.dropped') return 4;
  return name === 'webhook.sent' ? 2 : 1;
}
