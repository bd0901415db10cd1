// Which runs a host without a model key gets, keeps and answers: the offline model must not answer
// runs that expect a real one.

import { beforeEach, expect, test } from 'vitest';
import type { HostModel } from '../../../../core/hosts/host-model.ts';
import type { Run } from '../../../../core/runs/run.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { storeMessage } from './session-turns.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario: project } = setupFreshScenario();
let projectWithKey: Scenario;
beforeEach(async () => {
  await database.pool.query('truncate runs, hosts cascade');
  await database.pool.query(`delete from installation where fact = 'model_key_seen'`);
  const model = { apiKey: 'sk-own', baseUrl: 'https://model.example' };
  projectWithKey = await createScenario(database.pool, testSealer, { project: { model } });
});

const runs = () => createRunStore(database.pool, testSealer);
const admission = () => createAdmission(database.pool, testSealer);
const renew = (hostId: string, model: HostModel, capacity = 9) =>
  createHostStore(database.pool).renew({ hostId, name: hostId, capacity, model });
const offersModel = async (hostId: string, model: HostModel) =>
  (await renew(hostId, model))?.offersModel;
const hostOf = async (run: Promise<Run>) => (await run).hostId;

/** A session on a host with nothing to do. */
async function idleSession(of: Scenario): Promise<Run> {
  const run = await of.session();
  await storeMessage(database.pool, run.runId);
  await createTurnStore(database.pool).claimSlot(run.runId, 0);
  const text = 'update session_messages set ended_at = db_clock() where run_id = $1';
  await database.pool.query(text, [run.runId]);
  return run;
}

test('a host without a key gets all runs until one with a key was seen, then only those of projects with a key', async () => {
  expect(await offersModel('keyless', 'offline_by_default')).toBe(true);
  expect(await hostOf(project.run())).toBe('keyless');
  await renew('with-key', 'key', 1);
  expect(await offersModel('keyless', 'offline_by_default')).toBe(false);
  expect(await hostOf(project.run())).toBe('with-key');
  const waiting = await project.run();
  expect(waiting.hostId).toBeNull();
  expect(await admission().claimSlot(waiting.runId, 0)).toBeNull();
  expect(await hostOf(projectWithKey.run())).toBe('keyless');

  // As if the operator had removed the key of the only host that had one.
  expect(await offersModel('with-key', 'offline_by_default')).toBe(false);
  expect(await hostOf(project.run())).toBeNull();
});

test('a host with OFFLINE_MODEL=yes gets all runs, unless another registered host has a key', async () => {
  await renew('with-key', 'key', 0);
  expect(await offersModel('offline', 'offline')).toBe(false);
  expect(await hostOf(project.run())).toBeNull();
  await createHostStore(database.pool).markStopped('with-key');
  expect(await offersModel('offline', 'offline')).toBe(false);
  expect(await hostOf(project.run())).toBeNull();
  expect(await offersModel('with-key', 'offline')).toBe(true);
  await admission().assignWaiting();
  expect(await hostOf(project.run())).toBe('offline');
});

test('a host with a key that is draining does not keep others from using the offline model', async () => {
  await renew('gone', 'key');
  expect(await offersModel('offline', 'offline')).toBe(false);
  await createHostStore(database.pool).setDraining('gone', true);
  expect(await offersModel('offline', 'offline')).toBe(true);
  expect(await hostOf(project.run())).toBe('offline');
});

test('a host with OFFLINE_MODEL=no gets only runs of projects with a key', async () => {
  expect(await offersModel('without', 'none')).toBe(false);
  expect(await hostOf(project.run())).toBeNull();
  expect(await hostOf(projectWithKey.run())).toBe('without');
});

test('a run is marked if the offline model answers it, and not if another host has a key', async () => {
  await renew('keyless', 'offline_by_default');
  const [before, after] = [await project.run(), await project.run()];
  expect(await runs().claimOfflineModel(before.runId, 'keyless')).toBe(true);
  expect((await runs().find(before.runId))?.offlineModel).toBe(true);
  await renew('with-key', 'key');
  // A run that the offline model has answered before continues with that model.
  expect(await runs().claimOfflineModel(before.runId, 'keyless')).toBe(true);
  expect(await runs().claimOfflineModel(after.runId, 'keyless')).toBe(false);
  expect((await runs().find(after.runId))?.offlineModel).toBe(false);
});

test('unstarted runs and idle sessions leave a host without a key once another host has one', async () => {
  const reconcile = createReconcileStore(database.pool);
  const leaving = async () => {
    const times = { lostMs: null, drainGraceMs: 60_000, staleMs: 60_000 };
    const found = [
      ...(await reconcile.unstartedOnLeavingHosts(times)),
      ...(await reconcile.idleOnLeavingHosts()),
    ];
    return found.map(({ runId }) => runId);
  };
  await renew('keyless', 'offline_by_default');
  const run = await project.run();
  for (const { runId } of [run, await projectWithKey.run()])
    await runs().markWorkflowStarted(runId);
  const session = await idleSession(project);
  await idleSession(projectWithKey);
  expect(await leaving()).toEqual([]);
  await renew('with-key', 'key', 1);
  expect(await leaving()).toEqual([run.runId, session.runId]);
  expect(await admission().claimSlot(run.runId, 1)).toMatchObject({ hostId: 'with-key' });
});

test('a run that needs the key of a host evicts no session from a host without one, and delays no other run', async () => {
  await renew('with-key', 'key', 0);
  await renew('keyless', 'offline_by_default', 1);
  const idle = await idleSession(projectWithKey);
  const [waiting, servable] = [await project.run(), await projectWithKey.run()];
  const evictedFor = async ({ runId }: Run) =>
    (await admission().findEvictableOnHosts()).find(({ waitingRunId }) => waitingRunId === runId)
      ?.runId ?? null;
  expect(await evictedFor(waiting)).toBeNull();
  expect(await evictedFor(servable)).toBe(idle.runId);
});
