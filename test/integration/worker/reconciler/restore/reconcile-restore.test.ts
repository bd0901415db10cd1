import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { Run } from '../../../../../core/runs/run.ts';
import { claimNext } from '../../../../support/claim-next.ts';
import { attemptsAge } from '../../../systems/postgres/attempts-age.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

const callbackUrl = 'https://receiver.example/';

/** As if the database had been restored in its current state that many milliseconds ago. */
async function restored(agoMs = 0): Promise<void> {
  const { pool } = database;
  await pool.query(`select record_restore(db_clock() - interval '1 day')`);
  const text = `update restores set restored_at = restored_at - $1 * interval '1 ms'`;
  await pool.query(text, [agoMs]);
}

/** The log lines with that event since the call. */
function watchLog(level: 'info' | 'warn', name: string): () => unknown[] {
  const calls = vi.spyOn(fixture.deps.logger, level).mock.calls;
  return () => calls.filter(([, message]) => message === name).map(([about]) => about);
}

const isSettled = async (): Promise<boolean> =>
  (await fixture.deps.reconcile.pendingRestore()) === null;

/** A session that is active in the backup, and whose workflow has ended since. */
async function endedSession(): Promise<Run> {
  const run = await fixture.started(await scenario.session());
  fixture.workflows.set(run.workflowId, 'closed');
  return run;
}

const endedMeanwhile = {
  endCause: 'max_reconnects_exceeded',
  endDetail: 'it ended after the restored backup was made',
};

/** Ended as a lost run; only the detail names the restore. */
function expectEnded(run: Run): void {
  expect(run).toMatchObject({
    endCause: 'max_reconnects_exceeded',
    endDetail: 'the database was restored from a backup',
    status: 'sleep',
  });
  expect(run.endedAt).not.toBeNull();
}

it('ends a run that was active in the backup, once, in every state of its workflow', async () => {
  const over = await fixture.started(await scenario.run({ callbackUrl }));
  const lost = await fixture.started(await scenario.run());
  const running = await fixture.started(await scenario.run());
  fixture.workflows.set(over.workflowId, 'closed');
  fixture.workflows.delete(lost.workflowId);
  await restored();
  await fixture.reconciler.pass();
  for (const run of [over, lost]) expectEnded(await fixture.read(run));
  expect(fixture.calls).toContain(`webhook ${over.runId} from 1`);
  // Its workflow stops it and ends it with the recorded cause.
  expect(fixture.calls).toContain(`signal ${running.workflowId}`);
  expect(await fixture.read(running)).toMatchObject({ endCause: 'max_reconnects_exceeded' });
});

it('ends a session that has ended meanwhile as such, also if the first query fails', async () => {
  const [compared, failedFirst] = [await endedSession(), await endedSession()];
  const { describe } = fixture.deps.temporal;
  fixture.deps.temporal.describe = async (id) => {
    if (id === failedFirst.workflowId) throw new Error('not now');
    return describe(id);
  };
  await restored(90_000);
  await fixture.reconciler.pass();
  expect(await fixture.read(compared)).toMatchObject(endedMeanwhile);
  expect((await fixture.read(failedFirst)).endedAt).toBeNull();
  // A known run does not delay requests: a repeated trigger finds it.
  expect(await isSettled()).toBe(true);
  fixture.deps.temporal.describe = describe;
  await fixture.reconciler.pass();
  expect(await fixture.read(failedFirst)).toMatchObject(endedMeanwhile);
});

it('ends a session whose workflow was terminated after the restore as terminated', async () => {
  const { pool } = database;
  const [before, after] = [await endedSession(), await endedSession()];
  await restored();
  const { rows } = await pool.query<{ at: Date }>('select max(restored_at) as at from restores');
  const at = rows[0]?.at.getTime() ?? 0;
  fixture.closedAt.set(before.workflowId, new Date(at)).set(after.workflowId, new Date(at + 1));
  await fixture.reconciler.pass();
  expect(await fixture.read(before)).toMatchObject(endedMeanwhile);
  expect(await fixture.read(after)).toMatchObject({ endCause: 'terminated_by_operator' });
  expect(await isSettled()).toBe(false);
});

it('logs the comparison once, when it admits all requests', async () => {
  const compared = watchLog('info', 'restore_reconciled');
  await restored();
  await fixture.reconciler.pass();
  expect([await isSettled(), compared()]).toEqual([false, []]);
  const text = `update restores set restored_at = restored_at - interval '90 s'`;
  await database.pool.query(text);
  for (let pass = 0; pass < 2; pass += 1) await fixture.reconciler.pass();
  expect([await isSettled(), compared().length]).toEqual([true, 1]);
});

it('keeps the cause that a run in the backup was about to end for', async () => {
  const run = await fixture.started(await scenario.run());
  await fixture.runs.recordCause({ runId: run.runId, cause: 'stopped_by_api', detail: null });
  fixture.workflows.set(run.workflowId, 'closed');
  await restored();
  await fixture.reconciler.pass();
  expect(await fixture.read(run)).toMatchObject({ endCause: 'stopped_by_api', status: 'sleep' });
});

it('terminates the workflows of runs missing in the backup, and repeats it for a minute', async () => {
  const known = await fixture.started(await scenario.run());
  fixture.workflows.set('run/unknown', 'running');
  await restored(90_000);
  await fixture.reconciler.pass();
  expect(fixture.calls.filter((line) => line.startsWith('terminate'))).toEqual([
    'terminate run/unknown',
  ]);
  expect(fixture.workflows.get(known.workflowId)).toBe('running');
  expect(await isSettled()).toBe(false);
  await fixture.reconciler.pass();
  expect(await isSettled()).toBe(true);
  fixture.workflows.set('run/later', 'running');
  await fixture.reconciler.pass();
  expect(fixture.calls).not.toContain('terminate run/later');
});

it('imports a run missing in the backup as ended, after its workflow has ended', async () => {
  const { flow, projectId } = scenario;
  const about = { flowId: flow.flowId, projectId, triggerType: 'api', timeoutSeconds: 60 } as const;
  const [running, over] = [randomUUID(), randomUUID()];
  const strange = { ...about, runId: randomUUID(), flowId: randomUUID() };
  fixture.workflows.set(`run/${running}`, 'running').set(`run/${over}`, 'closed');
  fixture.workflows.set('run/of-a-lost-flow', 'closed').set('run/silent', 'closed');
  for (const runId of [running, over]) fixture.memos.set(`run/${runId}`, { ...about, runId });
  fixture.memos.set('run/of-a-lost-flow', strange);
  await restored(90_000);
  await fixture.reconciler.pass();
  expect(fixture.calls).toContain(`terminate run/${running}`);
  expect(fixture.calls).not.toContain(`terminate run/${over}`);
  for (const runId of [running, over])
    expect(await fixture.runs.find(runId)).toMatchObject({ endCause: 'lost_in_restore' });
  expect(await isSettled()).toBe(false);
  await fixture.reconciler.pass();
  expect(await isSettled()).toBe(true);
});

it('does not import a run whose workflow could not be terminated', async () => {
  const runId = randomUUID();
  const { flow, projectId } = scenario;
  fixture.workflows.set(`run/${runId}`, 'running');
  fixture.memos.set(`run/${runId}`, {
    ...{ runId, flowId: flow.flowId, projectId, triggerType: 'api', timeoutSeconds: 60 },
  });
  fixture.deps.temporal.terminate = () => Promise.reject(new Error('not now'));
  await restored(90_000);
  await fixture.reconciler.pass();
  expect(await fixture.runs.find(runId)).toBeNull();
  expect(await isSettled()).toBe(false);
});

it('continues a webhook after its last attempt, however many attempts are missing', async () => {
  const run = await fixture.started(await scenario.run({ callbackUrl }));
  await fixture.runs.endRun({ runId: run.runId, cause: 'completed', detail: null, exitCode: 0 });
  for (const made of [0, 2]) {
    await claimNext(fixture.deps.webhooks, run.runId, { made });
    await attemptsAge(database, 60_000);
  }
  fixture.workflows.set(run.workflowId, 'closed');
  await restored();
  fixture.deps.thresholds.webhookMs = 0;
  await fixture.reconciler.pass();
  expect(fixture.calls).toContain(`webhook ${run.runId} from 4`);
});

it('continues a webhook after the attempts that its terminated workflow had made', async () => {
  const run = await fixture.started(await scenario.run({ callbackUrl }));
  fixture.workflows.set(run.workflowId, 'closed');
  fixture.deps.temporal.webhookAttempts = async () => 3;
  await restored();
  await fixture.reconciler.pass();
  expect(fixture.calls).toContain(`webhook ${run.runId} from 4`);
});

it('ends no workflow of a database that was not restored', async () => {
  fixture.workflows.set('run/unknown', 'running');
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([]);
});

it('never issues a lease token again that was issued since the backup', async () => {
  const run = await scenario.run();
  const read = async () => {
    const text =
      'select lease_token as token, lease_owner as owner from run_logs where run_id = $1';
    return (await database.pool.query(text, [run.runId])).rows[0];
  };
  const before = await read();
  await restored();
  expect(await read()).toEqual({ token: before.token + 2 ** 32, owner: null });
});

it.each([
  ['its own workflow', { hasFinished: async () => true }],
  ['another', { startWebhook: async () => 'already' as const }],
])('drops a webhook that %s has dealt with since', async (_, temporal) => {
  const run = await fixture.started(await scenario.run({ callbackUrl }));
  fixture.workflows.set(run.workflowId, 'closed');
  Object.assign(fixture.deps.temporal, temporal);
  await restored();
  await fixture.reconciler.pass();
  expect((await fixture.read(run)).webhook.state).toBe('dropped');
  expect(fixture.calls.filter((line) => line.startsWith('webhook'))).toEqual([]);
});
