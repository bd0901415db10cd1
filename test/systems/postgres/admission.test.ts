import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { emptyRunConfig } from '../../../core/run-config.ts';
import { workflowIdFor } from '../../../core/workflow-id.ts';
import { createAdmission } from '../../../systems/postgres/admission.ts';
import { createHostStore } from '../../../systems/postgres/host-store.ts';
import { createRunStore } from '../../../systems/postgres/run-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../support/database.ts';
import { createScene, type Scene } from '../../support/records.ts';

let database: TestDatabase;
let scene: Scene;
const stores = () => ({
  admission: createAdmission(database.pool, testSealer),
  runs: createRunStore(database.pool, testSealer),
  hosts: createHostStore(database.pool),
});

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  scene = await createScene(database.pool, testSealer);
});
afterAll(() => database.drop());

const oneServer = { type: 'http', url: 'https://one.example' } as const;

/** All that admission writes for a project. */
async function writtenFor(projectId: string): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select (select count(*) from runs where project_id = $1) as runs,
            (select count(*) from idempotency_keys where project_id = $1) as keys,
            (select coalesce(sum(admitted), 0)::int from monthly_runs where project_id = $1) as month,
            (select count(*) from run_configs c join runs r on r.id = c.run_id
             where r.project_id = $1) as configs`,
    [projectId],
  );
  return rows[0];
}

async function end(runId: string): Promise<void> {
  await stores().runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
}

test('an admitted run is what was asked for, running and not started', async () => {
  const request = scene.request({
    name: 'Näme',
    labels: { team: 'a\0b', 'x.y': '' },
    prompt: 'p'.repeat(1_000_000),
    callbackUrl: 'https://hooks.example/x',
    partialMessages: true,
    timeoutSeconds: 77,
  });
  const admission = await stores().admission.admitRun(request);
  const { runId, flowId, projectId, name, labels, prompt } = request;
  expect(admission).toMatchObject({
    outcome: 'admitted',
    run: {
      ...{ runId, flowId, projectId, name, labels, prompt },
      status: 'running',
      agentStatus: null,
      triggerType: 'api',
      partialMessages: true,
      timeoutSeconds: 77,
      startedAt: null,
      endedAt: null,
      createdBy: { keyName: 'ci', createdBy: 'ana' },
      webhook: { state: 'waiting', attempts: 0, lastStatus: null },
      generation: 1,
      workflowId: `run/${runId}`,
      workflowStartedAt: null,
      lastSeq: 0,
    },
  });
  expect(await stores().runs.find(runId)).toEqual('run' in admission && admission.run);
});

test('the configuration comes with the plan, the names of its servers with the run', async () => {
  const mcpServers = { zeta: oneServer, alpha: oneServer };
  const secrets = { env: { TOKEN: 't' }, mcpServers: { beta: oneServer, alpha: oneServer } };
  const withServers = await createScene(database.pool, testSealer, { flow: { secrets } });
  const config = { ...emptyRunConfig, mcpServers, env: { A: 'b' } };
  const merged = await withServers.run({ config });
  expect(merged.mcpServerNames).toEqual(['alpha', 'beta', 'zeta']);
  const replaced = await withServers.run({ config: { ...config, mcpMode: 'replace' } });
  expect(replaced.mcpServerNames).toEqual(['alpha', 'zeta']);
  const plan = await stores().runs.sandboxPlan(merged.runId);
  expect(plan).toMatchObject({ run: merged, flow: withServers.flow, secrets, config });
});

describe('an idempotency key', () => {
  test('gives the first run back, with its labels, whatever else is asked', async () => {
    const first = await scene.run({ idempotencyKey: 'k', labels: { a: '1' } });
    const again = scene.request({ idempotencyKey: 'k', labels: { a: '2' }, prompt: 'Other' });
    const replay = await stores().admission.admitRun(again);
    expect(replay).toEqual({ outcome: 'replay', run: first });
    expect(await stores().runs.find(again.runId)).toBeNull();
  });

  test('gives a run back as it is now, a deleted one too', async () => {
    const { runId } = await scene.run({ idempotencyKey: 'k' });
    await stores().runs.markDeleted(runId);
    await end(runId);
    const replay = await stores().admission.admitRun(scene.request({ idempotencyKey: 'k' }));
    expect(replay).toEqual({ outcome: 'replay', run: await stores().runs.find(runId) });
  });

  test('belongs to its project', async () => {
    const first = await scene.run({ idempotencyKey: 'k' });
    const other = await createScene(database.pool, testSealer);
    const second = await stores().admission.admitRun(other.request({ idempotencyKey: 'k' }));
    expect(second).toMatchObject({ outcome: 'admitted', run: { projectId: other.projectId } });
    expect('run' in second && second.run.workflowId).not.toBe(first.workflowId);
  });

  test('is answered before the cap and the quota, and uses up neither', async () => {
    const project = { maxConcurrentRuns: 1, monthlyRunQuota: 1 };
    const full = await createScene(database.pool, testSealer, { project });
    const first = await full.run({ idempotencyKey: 'k' });
    const before = await writtenFor(full.projectId);
    const replay = await stores().admission.admitRun(full.request({ idempotencyKey: 'k' }));
    expect(replay).toEqual({ outcome: 'replay', run: first });
    expect(await writtenFor(full.projectId)).toEqual(before);
  });

  test('is not used up by a refusal', async () => {
    const full = await createScene(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    const first = await full.run();
    const request = full.request({ idempotencyKey: 'k' });
    expect(await stores().admission.admitRun(request)).toMatchObject({ outcome: 'refused' });
    await end(first.runId);
    expect(await stores().admission.admitRun(request)).toMatchObject({ outcome: 'admitted' });
  });

  test('makes the workflow id that core makes of it', async () => {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const key = fc.oneof(
      fc.string({
        unit: fc.integer({ min: 33, max: 126 }).map((c) => String.fromCharCode(c)),
        minLength: 1,
        maxLength: 255,
      }),
      fc.constantFrom('k'.repeat(100), 'k'.repeat(101), 'sha256:x', '\\x41', 'a/b', "'"),
      fc.constant(null),
    );
    const window = fc.date({
      min: new Date('2020-01-01'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    });
    const property = fc.asyncProperty(key, window, async (idempotencyKey, windowStart) => {
      const ids = { projectId: 'p-1', runId: randomUUID() };
      const { rows } = await database.pool.query('select run_workflow_id($1, $2, $3, $4) as id', [
        ids.projectId,
        ids.runId,
        idempotencyKey,
        windowStart.toISOString(),
      ]);
      const expected = workflowIdFor({ ...ids, idempotencyKey, windowStart, sha256 });
      expect(rows[0].id).toBe(expected);
      expect(expected.length).toBeLessThanOrEqual(255);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

describe('the concurrent cap', () => {
  test('admits up to it, refuses one beyond with both numbers, and writes nothing for that one', async () => {
    const capped = await createScene(database.pool, testSealer, {
      project: { maxConcurrentRuns: 2 },
    });
    const first = await capped.run();
    await capped.run();
    const before = await writtenFor(capped.projectId);
    const refused = await stores().admission.admitRun(capped.request());
    expect(refused).toEqual({
      outcome: 'refused',
      reason: 'CONCURRENT_LIMIT',
      limit: 2,
      current: 2,
    });
    expect(await writtenFor(capped.projectId)).toEqual(before);
    await end(first.runId);
    expect(await stores().admission.admitRun(capped.request())).toMatchObject({
      outcome: 'admitted',
    });
  });

  test('counts a run until it has ended, a deleted one too, and of whatever trigger', async () => {
    const capped = await createScene(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    const { runId } = await capped.run({ triggerType: 'schedule' });
    await stores().runs.markDeleted(runId);
    expect(await stores().admission.admitRun(capped.request())).toMatchObject({ current: 1 });
  });

  test('of none refuses everything', async () => {
    const closed = await createScene(database.pool, testSealer, {
      project: { maxConcurrentRuns: 0 },
    });
    const refused = await stores().admission.admitRun(closed.request());
    expect(refused).toEqual({
      outcome: 'refused',
      reason: 'CONCURRENT_LIMIT',
      limit: 0,
      current: 0,
    });
  });

  test('is another for each project', async () => {
    const capped = await createScene(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    await capped.run();
    expect(await stores().admission.admitRun(scene.request())).toMatchObject({
      outcome: 'admitted',
    });
  });
});

describe('the monthly quota', () => {
  test('admits up to it and refuses one beyond with both numbers', async () => {
    const limited = await createScene(database.pool, testSealer, {
      project: { monthlyRunQuota: 2 },
    });
    await limited.run();
    await limited.run();
    const before = await writtenFor(limited.projectId);
    const refused = await stores().admission.admitRun(limited.request());
    expect(refused).toEqual({ outcome: 'refused', reason: 'MONTHLY_QUOTA', limit: 2, current: 2 });
    expect(await writtenFor(limited.projectId)).toEqual(before);
  });

  test('counts runs that have ended or were deleted, and no others than the API’s', async () => {
    const limited = await createScene(database.pool, testSealer, {
      project: { monthlyRunQuota: 1 },
    });
    const { runId } = await limited.run();
    await stores().runs.markDeleted(runId);
    await end(runId);
    expect(await stores().admission.admitRun(limited.request())).toMatchObject({
      reason: 'MONTHLY_QUOTA',
    });
    for (const triggerType of ['dashboard', 'schedule'] as const) {
      const admission = await stores().admission.admitRun(limited.request({ triggerType }));
      expect(admission).toMatchObject({ outcome: 'admitted' });
    }
  });

  test('is looked at after the cap', async () => {
    const project = { maxConcurrentRuns: 1, monthlyRunQuota: 1 };
    const both = await createScene(database.pool, testSealer, { project });
    const { runId } = await both.run();
    expect(await stores().admission.admitRun(both.request())).toMatchObject({
      reason: 'CONCURRENT_LIMIT',
    });
    await end(runId);
    expect(await stores().admission.admitRun(both.request())).toMatchObject({
      reason: 'MONTHLY_QUOTA',
    });
  });
});

test('a flow or a project that is not there, or not together, is an error and leaves nothing', async () => {
  const other = await createScene(database.pool, testSealer);
  for (const wrong of [
    scene.request({ projectId: 'nowhere' }),
    scene.request({ flowId: randomUUID() }),
    scene.request({ flowId: other.flow.flowId }),
  ]) {
    await expect(stores().admission.admitRun(wrong)).rejects.toThrow(/^no (flow|project)/);
  }
  expect(await writtenFor(scene.projectId)).toMatchObject({ runs: 0, month: 0 });
});
