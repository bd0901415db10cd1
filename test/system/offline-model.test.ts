// A first start without a model key, and a second host that has one. From then on no run ends with
// made-up text as if a real model had answered. Each test continues where the one before it ended.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OfflineModel, startOfflineModel } from '../../offline-model/server.ts';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { commandEnv } from '../support/command-env.ts';
import { script } from '../support/prompts.ts';
import { cliWith } from '../support/run-cli.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

let service: Service;
let hostWithKey: Host;
/** Answers for the operator’s key. */
let realModel: OfflineModel;
beforeAll(async () => {
  service = await startService({ agent: 'real', withoutModelKey: true });
  service.model.script([{ text: 'made up' }]);
  realModel = await startOfflineModel();
  realModel.script([{ text: 'REAL' }]);
  hostWithKey = await service.anotherHost();
  const text = 'update projects set max_concurrent_runs = 100 where id = $1';
  await service.database.pool.query(text, [service.projectId]);
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await realModel?.close();
});

const prompt = 'Say hello.';

it('a first start without a key works, and its runs report that the offline model answered', async () => {
  await expect.poll(() => service.worker.log()).toContain('"offline_model"');
  const { runId } = await service.trigger({ prompt });
  const run = await service.untilEnded(runId);
  expect(run).toMatchObject({ exitCode: 0, result: 'made up', offlineModel: true });
  const text = 'select distinct model from model_calls where run_id = $1';
  const { rows } = await service.database.pool.query(text, [runId]);
  expect(rows).toEqual([{ model: 'offline-model' }]);
  const { inputTokens = 0, outputTokens = 0 } = run.usage;
  expect(run.costUsd).toBeCloseTo((inputTokens + 5 * outputTokens) / 1e6, 9);
}, 120_000);

it('the first run of the command line reports it too', async () => {
  const { code, out, err } = await cliWith(commandEnv(service))('hello', '--json');
  expect(code, err).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ result: 'made up', offlineModel: true });
  expect(err).toContain('made up');
  expect(err).toContain('ANTHROPIC_API_KEY');
}, 120_000);

it('a run that was placed there before the first key was seen ends with an error', async () => {
  await service.worker.kill('SIGKILL');
  const { runId } = await service.trigger({ prompt });
  // As the first heartbeat of a host with a key does, but without a host to which the run could
  // move.
  await service.database.pool.query(`insert into installation values ('model_key_seen')`);
  await service.worker.start();
  const run = await service.untilEnded(runId);
  expect(run).toMatchObject({ error: expect.any(String) });
  expect(run.result ?? '').toContain('no model key');
  expect(run).not.toHaveProperty('offlineModel');
}, 120_000);

it('a run of a project with its own key starts there, and gets the real answer', async () => {
  const { database, encryptionKey, projectId } = service;
  const projects = createProjectStore(database.pool, createSealer(encryptionKey));
  await projects.update(projectId, { model: { apiKey: 'sk-own', baseUrl: realModel.url } });
  const { runId } = await service.trigger({ prompt });
  const run = await service.untilEnded(runId);
  expect(run).toMatchObject({ exitCode: 0, result: 'REAL' });
  expect(run).not.toHaveProperty('offlineModel');
  const { rows } = await database.pool.query('select host_id from runs where id = $1', [runId]);
  expect(rows).toEqual([{ host_id: hostIdIn(service.dataDir) }]);
  await projects.update(projectId, { model: null });
}, 120_000);

it('twenty runs all get the real answer, from the host that has a key', async () => {
  await expect.poll(() => service.worker.log()).toContain('"host_without_model"');
  await hostWithKey.worker.start({
    ANTHROPIC_API_KEY: service.modelKey,
    ANTHROPIC_BASE_URL: realModel.url,
    // It starts faster. The first host's agent would answer its prompt too.
    SANDBOX_IMAGE: stackEnv.scriptedImage,
  });
  const asks = { prompt: script([{ model: prompt }]) };
  const runs = await Promise.all(Array.from({ length: 20 }, () => service.trigger(asks)));
  const runIds = runs.map(({ runId }) => runId);
  for (const runId of runIds) {
    const run = await service.untilEnded(runId);
    expect(run).toMatchObject({ exitCode: 0, result: expect.stringContaining('REAL') });
    expect(run).not.toHaveProperty('offlineModel');
  }
  const text = 'select distinct host_id from runs where id = any($1::uuid[])';
  const { rows } = await service.database.pool.query(text, [runIds]);
  expect(rows).toEqual([{ host_id: hostWithKey.hostId() }]);
}, 180_000);
