import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { commandEnv } from '../support/command-env.ts';
import { openConversation } from '../support/conversation.ts';
import { linesOf } from '../support/log-lines.ts';
import { slowdownSinceStart } from '../support/processor-wait.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { cliWith } from '../support/run-cli.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';
import { createNamespace } from '../support/temporal-namespace.ts';

let service: Service;
let second: Host;
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '500' } });
  second = await service.anotherHost();
  const { database, projectId } = service;
  const text = 'update projects set max_concurrent_runs = 100 where id = $1';
  await database.pool.query(text, [projectId]);
}, 240_000);
afterAll(() => service?.stop());

const flowrun = (...args: string[]) => cliWith(commandEnv(service))(...args);

const withinMs = 60_000;
const waits = script([{ say: 'working' }, { waitForFile: 'go-on' }]);

async function endedRuns(): Promise<unknown[]> {
  const text = 'select id, end_cause from runs where end_cause is not null';
  return (await service.database.pool.query(text)).rows;
}

it('a worker and an API of another Temporal stop, and nothing has ended', async () => {
  const { runId } = await service.trigger({ prompt: waits });
  for (let n = 0; n < 6; n += 1) await openConversation(service);
  await untilWorking(service, { runId });
  const elsewhere = { TEMPORAL_NAMESPACE: await createNamespace() };
  const sentence = /belongs to the namespace default.*flowrun temporal adopt --confirm/;
  await expect(second.worker.start(elsewhere)).rejects.toThrow(sentence);
  expect(await second.worker.exited()).toEqual({ code: 1, signal: null });
  const { api } = await service.anotherApi();
  await expect(api.start(elsewhere)).rejects.toThrow(sentence);
  expect(await api.exited()).toEqual({ code: 1, signal: null });

  const { rows } = await service.database.pool.query('select id from hosts');
  expect(rows).toEqual([{ id: hostIdIn(service.dataDir) }]);
  expect(await endedRuns()).toEqual([]);
  releaseAgent(service, runId);
  expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
}, 180_000);

it('a worker with a copied data folder refuses to start, and the original continues', async () => {
  writeFileSync(join(second.dataDir, 'host-id'), hostIdIn(service.dataDir));
  const refusal = second.worker.start();
  await expect(refusal).rejects.toThrow(/start this worker with an empty DATA_DIR.*host_id_taken/);
  expect(await second.worker.exited()).toEqual({ code: 1, signal: null });
  expect(second.worker.log().split('host_id_taken').at(-1)).not.toMatch(/sandbox_|forced_exit/);
  rmSync(join(second.dataDir, 'host-id'));
  expect(service.worker.isRunning()).toBe(true);
}, 60_000);

it('a killed worker takes its host ID over within two seconds of its restart', async () => {
  const before = service.worker.log().length;
  await service.worker.restart('SIGKILL');
  const lines = linesOf(service.worker.log().slice(before));
  const timeOf = (event: string) =>
    Date.parse(String(lines.find(({ msg }) => msg === event)?.['time']));
  expect(timeOf('host_claimed') - timeOf('worker_starting')).toBeLessThan(
    2_000 * slowdownSinceStart(service.worker.pid()),
  );
}, 60_000);

it('an API that cannot reach Temporal admits runs, which a worker starts', async () => {
  const { api, url } = await service.anotherApi();
  api.start({ TEMPORAL_ADDRESS: '127.0.0.1:1' }).catch(() => undefined); // never ready
  await expect.poll(() => api.log()).toContain('"api_ready"');
  const client = createApiClient({ url, key: service.key, flowId: service.flowId });
  const { runId } = await client.trigger({ prompt: script([{ say: 'done' }]) });
  expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
  expect(await endedRuns()).toEqual(
    expect.arrayContaining([{ id: runId, end_cause: 'completed' }]),
  );
  await api.kill('SIGTERM');
}, 120_000);

it('a worker takes no tasks before it has compared the identity of Temporal', async () => {
  const { pool } = service.database;
  await service.worker.kill('SIGTERM');
  await pool.query('alter table temporal_identity rename to unreadable_identity');
  const from = service.worker.log().length;
  const ready = service.worker.start();
  const log = () => service.worker.log().slice(from);
  await expect.poll(log, { timeout: withinMs }).toContain('"dependency_unavailable"');
  const { runId } = await service.trigger({ prompt: script([{ say: 'done' }]) });
  await sleep(5_000);
  expect(log()).not.toContain('"worker_ready"');
  expect((await service.readRun(runId)).startedAt).toBeNull();

  await pool.query('alter table unreadable_identity rename to temporal_identity');
  await ready;
  expect(await service.untilEnded(runId, withinMs)).toMatchObject({ exitCode: 0 });
}, 120_000);

it('drains a host: its sessions wake up on another host, and its runs continue', async () => {
  const first = hostIdIn(service.dataDir);
  const chat = await openConversation(service);
  await chat.say(script([{ write: { path: '/workspace/a.txt', content: 'kept' } }]));
  const { runId } = await service.trigger({ prompt: waits });
  await untilWorking(service, { runId });
  await second.worker.start();

  expect((await flowrun('host', 'drain', first)).code).toBe(0);
  const placesOf = async (id: string) =>
    (await service.sandboxes.list())
      .filter((one) => one.runId === id)
      .map(({ hostId, generation }) => ({ hostId, generation }));
  await expect.poll(() => placesOf(chat.runId), { timeout: withinMs }).toEqual([]);

  const turn = await chat.say(script([{ shell: 'cat a.txt' }, { recall: true }]));
  expect(turn).toMatchObject({ exitCode: 0, texts: [expect.stringContaining('a.txt')] });
  expect(chat.events.some(({ event, data }) => event === 'user' && /kept/.test(data))).toBe(true);
  expect(await placesOf(chat.runId)).toEqual([{ hostId: second.hostId(), generation: 2 }]);
  expect(await placesOf(runId)).toEqual([{ hostId: first, generation: 1 }]);
  releaseAgent(service, runId);
  expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
}, 180_000);

it('runs elsewhere what a stopped host has not started, and places nothing on it', async () => {
  const first = hostIdIn(service.dataDir);
  expect((await flowrun('host', 'undrain', first)).code).toBe(0);
  const runIds: string[] = [];
  let stopped: Promise<void> | null = null;
  for (let n = 0; n < 20; n += 1) {
    const { runId } = await service.trigger({ prompt: script([{ say: 'done' }]) });
    runIds.push(runId);
    if (n === 4) stopped = service.worker.kill('SIGTERM');
    await sleep(100);
  }
  await stopped;
  const runs = await Promise.all(runIds.map((runId) => service.readRun(runId)));
  const untilAllEnded = async (ids: string[]) => {
    const ended = await Promise.all(ids.map((runId) => service.untilEnded(runId, 2 * withinMs)));
    expect(ended.filter(({ error }) => error !== undefined)).toEqual([]);
  };
  const unstarted = runs.filter(({ startedAt }) => startedAt === null);
  await untilAllEnded(unstarted.map(({ runId }) => runId));
  const { rows } = await service.database.pool.query<{ hostId: string }>(
    'select distinct host_id as "hostId" from runs where created_at >= $1',
    [runs.at(-1)?.createdAt],
  );
  expect(rows).toEqual([{ hostId: second.hostId() }]);
  await service.worker.start();
  await untilAllEnded(runIds);
}, 240_000);
