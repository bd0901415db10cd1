// Runs that a restore from a backup has lost, and that Temporal still has.

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import type { Run } from '../../../../core/runs/run.ts';
import type { MissingRun } from '../../../../systems/postgres/maintenance/import-runs.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createSessionStore } from '../../../../systems/postgres/sessions/session-store.ts';
import { testSealer } from '../../../support/database.ts';
import { admissionStores } from './admission-stores.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const stores = () => admissionStores(database.pool);
const reconcile = () => createReconcileStore(database.pool);
beforeEach(() => database.pool.query('delete from restores'));

const restored = () => database.pool.query('select record_restore(db_clock())');
const settle = () => database.pool.query('update restores set reconciled_at = db_clock()');

const hourMs = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

/** Temporal's data about a run of this flow that was admitted with this key. */
async function lost(key: string | null, given: Partial<MissingRun> = {}): Promise<MissingRun> {
  const { runId = randomUUID(), startedAt = ago(hourMs) } = given;
  const { rows } = await database.pool.query<{ id: string }>(
    'select run_workflow_id($1, $2, $3, $4) as id',
    [scenario.projectId, runId, key, startedAt],
  );
  return {
    ...{ runId, flowId: scenario.flow.flowId, projectId: scenario.projectId, timeoutSeconds: 60 },
    ...{ triggerType: 'api', workflowId: rows[0]?.id ?? '', startedAt, closedAt: ago(0) },
    ...given,
  };
}

const admit = (idempotencyKey: string | null, more = {}) =>
  stores().admission.admitRun(scenario.request({ idempotencyKey, ...more }));

async function find(runId: string): Promise<Run> {
  const run = await stores().runs.find(runId);
  if (run === null) throw new Error('the run is not there');
  return run;
}

describe('a run that a restore has lost', () => {
  test('is imported once, as an ended run', async () => {
    const run = await lost(null, { closedAt: ago(hourMs / 2) });
    expect(await reconcile().importRuns([run, run])).toEqual([run.runId]);
    expect(await reconcile().importRuns([run])).toEqual([]);
    expect(await find(run.runId)).toMatchObject({
      ...{ status: 'sleep', endCause: 'lost_in_restore', triggerType: 'api', timeoutSeconds: 60 },
      ...{ createdAt: run.startedAt, endedAt: run.closedAt, webhook: { state: 'none' } },
      ...{ workflowId: run.workflowId, startedAt: null, exitCode: null, lastSeq: 0 },
    });
    expect(await reconcile().unknownWorkflows([run.workflowId])).toEqual([]);
  });

  test('ends at the time of the import if its workflow was open', async () => {
    const before = Date.now();
    const run = await lost(null, { closedAt: null });
    await reconcile().importRuns([run]);
    expect((await find(run.runId)).endedAt?.getTime()).toBeGreaterThanOrEqual(before);
  });

  test('counts in the month in which it was admitted, a session not', async () => {
    const runs = [await lost(null), await lost('k'), await lost(null, { triggerType: 'schedule' })];
    const session = await lost(null, { sessionId: 's', workflowId: `session/${randomUUID()}` });
    await reconcile().importRuns([...runs, session]);
    expect(await stores().writtenFor(scenario.projectId)).toMatchObject({ runs: 4, month: 2 });
  });

  test('is not imported if its flow is lost too', async () => {
    const run = await lost('k', { flowId: randomUUID() });
    expect(await reconcile().importRuns([run])).toEqual([]);
    expect(await stores().runs.find(run.runId)).toBeNull();
  });
});

describe('its key', () => {
  test.each([
    'order-7',
    'a/b/2026-11-21T10:00:00.123Z',
    '\\x41\'"',
    'k'.repeat(100),
    'k'.repeat(101),
    'k'.repeat(255),
    `sha256:${'0'.repeat(64)}`,
  ])('%s is answered with it', async (key) => {
    const run = await lost(key);
    await reconcile().importRuns([run]);
    expect(await admit(key)).toEqual({ outcome: 'replay', run: await find(run.runId) });
    expect(await admit(`${key}.`.slice(-255))).toMatchObject({ outcome: 'admitted' });
  });

  test('is free again after its window', async () => {
    const run = await lost('k', { startedAt: ago(limits.idempotency.windowMs + 1_000) });
    await reconcile().importRuns([run]);
    expect(await admit('k')).toMatchObject({ outcome: 'admitted' });
  });

  test('belongs to the latest run that used it, regardless of the order of import', async () => {
    const [first, last] = [await lost('k', { startedAt: ago(25 * hourMs) }), await lost('k')];
    await reconcile().importRuns([last]);
    await reconcile().importRuns([first]);
    expect(await admit('k')).toMatchObject({ outcome: 'replay', run: { runId: last.runId } });
  });
});

describe('while a restore is reconciled', () => {
  test('an unknown key is rejected, and uses up nothing', async () => {
    await admit('known');
    await restored();
    const before = await stores().writtenFor(scenario.projectId);
    expect(await admit('k')).toEqual({ outcome: 'rejected', reason: 'UPSTREAM_UNAVAILABLE' });
    expect(await stores().writtenFor(scenario.projectId)).toEqual(before);
    expect(await admit('known')).toMatchObject({ outcome: 'replay' });
    expect(await admit(null)).toMatchObject({ outcome: 'admitted' });
    await settle();
    expect(await admit('k')).toMatchObject({ outcome: 'admitted' });
  });

  test('no scheduled run is admitted', async () => {
    await restored();
    const refused = { outcome: 'rejected', reason: 'UPSTREAM_UNAVAILABLE' };
    expect(await admit(null, { triggerType: 'schedule' })).toEqual(refused);
  });

  test('a repeated key returns the imported run, and never another one', async () => {
    await restored();
    const run = await lost('k');
    let isOver = false;
    const repeats = Array.from({ length: 10 }, async () => {
      for (;;) {
        const wasOver = isOver;
        const answer = await admit('k');
        if (answer.outcome !== 'rejected' || wasOver) return answer;
      }
    });
    await reconcile().importRuns([run]);
    await settle();
    isOver = true;
    const answers = await Promise.all(repeats);
    expect(answers).toEqual(
      answers.map(() => ({
        outcome: 'replay',
        run: expect.objectContaining({ runId: run.runId }),
      })),
    );
  });

  test('a session with a client id is opened only if it is known', async () => {
    const sessions = createSessionStore(database.pool, testSealer);
    const open = (sessionId: string, isIdGiven = true) =>
      sessions.open({
        ...scenario.request(),
        sessionId,
        hasClientId: isIdGiven,
        mcpServerNames: [],
      });
    const known = await open('known');
    await restored();
    expect(await open('known')).toMatchObject({
      runId: known !== 'reconciling' && 'runId' in known ? known.runId : '',
    });
    expect(await open('lost')).toBe('reconciling');
    expect(await open(randomUUID(), false)).not.toBe('reconciling');
    const run = await lost(null, { sessionId: 'lost', workflowId: `session/${randomUUID()}` });
    await reconcile().importRuns([run]);
    await settle();
    expect(await open('lost')).toMatchObject({ runId: run.runId, endCause: 'lost_in_restore' });
    expect(await open('another')).toMatchObject({ endedAt: null });
  });
});
