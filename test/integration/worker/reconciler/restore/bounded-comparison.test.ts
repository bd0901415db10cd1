// The clock of these tests moves only in the requests for pages of workflows.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ListedWorkflow } from '../../../../../systems/temporal/workflows-since.ts';
import { openSessions } from '../open-sessions.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);

async function restored(agoMs: number): Promise<void> {
  await query(`select record_restore(db_clock() - interval '1 day')`);
  await query(`update restores set restored_at = restored_at - $1 * interval '1 ms'`, [agoMs]);
}

const isPending = async () => (await fixture.deps.reconcile.pendingRestore()) !== null;

/** The workflow of a run that the database has lost. */
function orphan(isOpen = true): ListedWorkflow {
  const { flow, projectId } = scenario;
  const about = { flowId: flow.flowId, projectId, triggerType: 'api', timeoutSeconds: 60 } as const;
  const runId = randomUUID();
  const startedAt = new Date();
  const closedAt = isOpen ? null : startedAt;
  return { workflowId: `run/${runId}`, isOpen, startedAt, closedAt, run: { runId, ...about } };
}

/** Temporal lists these pages, and takes 5 s for each. Returns which pages each pass has read. */
function listPages(pages: ListedWorkflow[][]) {
  const read: number[] = [];
  fixture.deps.temporal.workflowsSince = async (_, after) => {
    const page = after === null ? 0 : Number(Buffer.from(after).toString());
    read.push(page);
    vi.advanceTimersByTime(5_000);
    const next = page + 1 < pages.length ? Buffer.from(`${page + 1}`) : null;
    return { workflows: pages[page] ?? [], next };
  };
  return async (): Promise<number[]> => {
    read.length = 0;
    await fixture.reconciler.pass();
    return [...read];
  };
}

it('compares two pages per pass if each takes 5 s, and continues with the next page', async () => {
  const pages = Array.from({ length: 5 }, () => [orphan(false)]);
  await restored(3_600_000);
  const pass = listPages(pages);
  expect([await pass(), await pass(), await pass()]).toEqual([[0, 1], [2, 3], [4]]);
  for (const { run } of pages.flat())
    expect(await fixture.runs.find(run.runId)).toMatchObject({ endCause: 'lost_in_restore' });
  expect(await isPending()).toBe(true);
  expect([await pass(), await pass(), await pass()]).toEqual([[0, 1], [2, 3], [4]]);
  expect(await isPending()).toBe(false);
});

it('compares a page again whose workflows could not be terminated within the time limit', async () => {
  const [first, second] = [orphan(), orphan()];
  await restored(3_600_000);
  const pass = listPages([[first], [second], []]);
  expect(await pass()).toEqual([0, 1]);
  expect(await fixture.runs.find(first.run.runId)).not.toBeNull();
  expect(await fixture.runs.find(second.run.runId)).toBeNull();
  expect(await pass()).toEqual([1, 2]);
  expect(await fixture.runs.find(second.run.runId)).not.toBeNull();
});

it('is complete only if it has begun a minute after the restore', async () => {
  // Three pages take 15 s.
  const pass = listPages([[], [], []]);
  await restored(74_000);
  for (let made = 0; made < 2; made += 1) await pass();
  expect(await isPending()).toBe(true);
  await query(`update restores set restored_at = restored_at - interval '3 s'`);
  for (let made = 0; made < 2; made += 1) await pass();
  expect(await isPending()).toBe(false);
});

it('begins again after an error, and after a further restore', async () => {
  await restored(3_600_000);
  const pass = listPages([[], [], []]);
  expect(await pass()).toEqual([0, 1]);
  await restored(3_600_000);
  expect(await pass()).toEqual([0, 1]);
  const { workflowsSince } = fixture.deps.temporal;
  fixture.deps.temporal.workflowsSince = () => Promise.reject(new Error('not now'));
  await fixture.reconciler.pass();
  fixture.deps.temporal.workflowsSince = workflowsSince;
  expect([await pass(), await pass()]).toEqual([[0, 1], [2]]);
  expect(await isPending()).toBe(false);
});

it('imports the other runs if a workflow cannot be terminated', async () => {
  const [stubborn, open, closed] = [orphan(), orphan(), orphan(false)];
  const { terminate } = fixture.deps.temporal;
  fixture.deps.temporal.terminate = async (workflowId, reason) => {
    if (workflowId === stubborn.workflowId) throw new Error('refused');
    return terminate(workflowId, reason);
  };
  await restored(3_600_000);
  await listPages([[stubborn, open], [closed]])();
  const found = [stubborn, open, closed].map(({ run }) => fixture.runs.find(run.runId));
  expect((await Promise.all(found)).map((run) => run !== null)).toEqual([false, true, true]);
  expect(await isPending()).toBe(true);
});

const active = async () => (await query('select from runs where ended_at is null')).rowCount;

it('describes more than one page of active runs per pass, and only while it is pending', async () => {
  const sessions = await openSessions(database, scenario, 250);
  fixture.deps.temporal.closedWorkflows = async () => ({ workflowIds: [], next: null });
  for (const { workflowId } of sessions) fixture.workflows.set(workflowId, 'closed');
  await fixture.reconciler.pass();
  expect(await active()).toBe(150);
  await restored(0);
  await fixture.reconciler.pass();
  expect(await active()).toBe(0);
});

it('does not delay the end of a run whose workflow was terminated', async () => {
  const run = await fixture.started(await scenario.session());
  await restored(0);
  fixture.workflows.set(run.workflowId, 'closed');
  fixture.closedAt.set(run.workflowId, new Date(Date.now() + 60_000));
  await listPages(Array.from({ length: 100 }, () => []))();
  expect(await isPending()).toBe(true);
  expect(await fixture.read(run)).toMatchObject({ endCause: 'terminated_by_operator' });
});
