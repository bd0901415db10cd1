import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../../../core/runs/run.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
beforeEach(() => {
  fixture.deps.thresholds.overdueMs = 3_600_000;
});

/** Sessions and runs with a workflow, of which the first ones are missing in Temporal. */
async function activeRuns(count: number, { missing }: { missing: number }): Promise<Run[]> {
  const runs: Run[] = [];
  for (let n = 0; n < count; n += 1) {
    const opened = n % 2 === 0 ? scenario.run() : scenario.session();
    runs.push(await fixture.started(await opened));
  }
  for (const { workflowId } of runs.slice(0, missing)) fixture.workflows.delete(workflowId);
  return runs;
}

async function ended(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::integer as count from runs where ended_at is not null`,
  );
  return rows[0]?.count ?? 0;
}

const raised = async () => (await fixture.temporalIdentity.find())?.missingWorkflows ?? null;

describe('workflows that are missing in Temporal', () => {
  it('end their runs if they are five at most', async () => {
    await activeRuns(5, { missing: 5 });
    await fixture.reconciler.pass();
    expect([await ended(), await raised()]).toEqual([5, null]);
  });

  it('end no run if they are six, and raise the alarm', async () => {
    await activeRuns(6, { missing: 6 });
    for (let pass = 0; pass < 3; pass += 1) await fixture.reconciler.pass();
    expect(await ended()).toBe(0);
    expect(await raised()).toEqual({ missing: 6, described: 6, since: expect.any(Date) });
  });

  it('keep the alarm that their sweep has raised, if Postgres is slow', async () => {
    await activeRuns(6, { missing: 6 });
    const { clearMissing } = fixture.deps.temporalIdentity;
    fixture.deps.temporalIdentity.clearMissing = async (forMs) => {
      await sleep(300);
      return clearMissing(forMs);
    };
    await fixture.reconciler.pass();
    expect(await raised()).toMatchObject({ missing: 6 });
  });

  it('end their runs if they are a tenth of those described, and not if they are more', async () => {
    const runs = await activeRuns(70, { missing: 7 });
    await fixture.reconciler.pass();
    expect([await ended(), await raised()]).toEqual([7, null]);
    for (const { workflowId } of runs.slice(7, 14)) fixture.workflows.delete(workflowId);
    await fixture.reconciler.pass();
    expect(await ended()).toBe(7);
    expect(await raised()).toMatchObject({ missing: 7, described: 63 });
  });

  it('end their runs once the number has fallen', async () => {
    const runs = await activeRuns(8, { missing: 7 });
    await fixture.reconciler.pass();
    for (const { workflowId } of runs.slice(0, 3)) fixture.workflows.set(workflowId, 'running');
    // The first sweep below the limit clears the alarm, the next one ends the runs.
    await fixture.reconciler.pass();
    expect([await ended(), await raised()]).toEqual([0, null]);
    await fixture.reconciler.pass();
    expect(await ended()).toBe(4);
  });

  it('end their runs once an operator has accepted the loss, but not those started afterwards', async () => {
    await activeRuns(7, { missing: 7 });
    await fixture.reconciler.pass();
    await fixture.temporalIdentity.adopt(fixture.server);
    await sleep(2); // times are compared by the millisecond
    await activeRuns(6, { missing: 6 });
    await fixture.reconciler.pass();
    expect(await ended()).toBe(7);
    expect(await raised()).toMatchObject({ missing: 6, described: 13 });
  });

  it('end no run while another worker’s alarm is raised', async () => {
    await activeRuns(2, { missing: 2 });
    await fixture.temporalIdentity.remember(fixture.server);
    await fixture.temporalIdentity.recordMissing({ missing: 50, described: 100 });
    await fixture.reconciler.pass();
    expect(await ended()).toBe(0);
  });

  it('end no run if the server was replaced during the pass', async () => {
    await activeRuns(2, { missing: 2 });
    const { describe: ask } = fixture.deps.temporal;
    fixture.deps.temporal.describe = async (workflowId) => {
      fixture.server.namespaceId = 'n-2';
      return ask(workflowId);
    };
    await fixture.reconciler.pass();
    expect(await ended()).toBe(0);
  });

  it('do not keep closed workflows from ending their runs', async () => {
    const runs = await activeRuns(8, { missing: 7 });
    fixture.workflows.set(runs.at(-1)?.workflowId ?? '', 'closed');
    await fixture.reconciler.pass();
    expect(await ended()).toBe(1);
  });
});

it('a worker that is connected to another Temporal ends, starts and signals nothing', async () => {
  await activeRuns(3, { missing: 3 });
  const unstarted = await scenario.run();
  await fixture.temporalIdentity.remember({ ...fixture.server, namespaceId: 'n-before' });
  await fixture.reconciler.pass();
  expect([await ended(), fixture.calls]).toEqual([0, []]);
  expect((await fixture.read(unstarted)).workflowStartedAt).toBeNull();
});

it('a stop whose signal reaches no workflow ends no run that Temporal still describes', async () => {
  const [run] = await activeRuns(1, { missing: 0 });
  if (run === undefined) throw new Error('no run');
  await fixture.runs.recordCause({ runId: run.runId, cause: 'stopped_by_api', detail: null });
  fixture.deps.temporal.stopRun = async () => 'gone';
  await fixture.reconciler.pass();
  expect(await ended()).toBe(0);
});
