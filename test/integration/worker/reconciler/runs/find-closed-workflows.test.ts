import { expect, it } from 'vitest';
import type { Run } from '../../../../../core/runs/run.ts';
import { openSessions } from '../open-sessions.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

/** Open sessions that are asleep. Returns the one with the highest ID, which a sweep meets last. */
async function openRunning(count: number): Promise<Run> {
  const sessions = await openSessions(database, scenario, count);
  for (const { workflowId } of sessions) fixture.workflows.set(workflowId, 'running');
  const last = await fixture.runs.find(sessions.at(-1)?.runId ?? '');
  if (last === null) throw new Error('no session was opened');
  return last;
}

function countRequests() {
  const requests = { described: 0, listed: 0 };
  const { describe, closedWorkflows } = fixture.deps.temporal;
  fixture.deps.temporal.describe = (workflowId) => {
    requests.described += 1;
    return describe(workflowId);
  };
  fixture.deps.temporal.closedWorkflows = (since, after) => {
    requests.listed += 1;
    return closedWorkflows(since, after);
  };
  return requests;
}

const list = (workflowIds: string[]) => {
  fixture.deps.temporal.closedWorkflows = async () => ({ workflowIds, next: null });
};

it('ends a terminated session among 10 000 at the next pass, with 102 requests', async () => {
  const session = await openRunning(10_000);
  await fixture.reconciler.pass();
  fixture.workflows.set(session.workflowId, 'closed');
  const requests = countRequests();
  await fixture.reconciler.pass();
  expect(await fixture.read(session)).toMatchObject({ endCause: 'terminated_by_operator' });
  expect(requests).toEqual({ described: 101, listed: 1 });
});

it('ends no run because of the list alone', async () => {
  const running = await fixture.started(await scenario.run());
  list([running.workflowId]);
  await fixture.reconciler.pass();
  expect((await fixture.read(running)).endedAt).toBeNull();
});

it('ends no run whose workflow is listed and missing, if many are missing', async () => {
  const runs: Run[] = [];
  for (let made = 0; made < 6; made += 1) runs.push(await fixture.started(await scenario.run()));
  fixture.workflows.clear();
  list(runs.map(({ workflowId }) => workflowId));
  await fixture.reconciler.pass();
  for (const run of runs) expect((await fixture.read(run)).endedAt).toBeNull();
});

it('ends runs of every page of the list', async () => {
  const session = await openRunning(200);
  fixture.workflows.set(session.workflowId, 'closed');
  fixture.deps.temporal.closedWorkflows = async (_, after) =>
    after === null
      ? { workflowIds: ['session/of-no-run'], next: Buffer.from('2') }
      : { workflowIds: [session.workflowId], next: null };
  await fixture.reconciler.pass();
  expect((await fixture.read(session)).endedAt).not.toBeNull();
});

it('finds a closed workflow by its description if it is not listed', async () => {
  const run = await fixture.started(await scenario.run());
  fixture.workflows.set(run.workflowId, 'closed');
  fixture.deps.temporal.closedWorkflows = () => Promise.reject(new Error('not available'));
  await fixture.reconciler.pass();
  expect((await fixture.read(run)).endedAt).not.toBeNull();
});

it('lists again the workflows that it could not describe', async () => {
  const run = await fixture.started(await scenario.run());
  const since: number[] = [];
  fixture.deps.temporal.closedWorkflows = async (from) => {
    since.push(from.getTime() - fixture.clock.now);
    return { workflowIds: [run.workflowId], next: null };
  };
  const { describe } = fixture.deps.temporal;
  const passLater = async () => {
    fixture.clock.now += 5_000;
    await fixture.reconciler.pass();
  };
  await passLater();
  fixture.deps.temporal.describe = () => Promise.reject(new Error('not now'));
  await passLater();
  fixture.deps.temporal.describe = describe;
  await passLater();
  await passLater();
  const minuteMs = 60_000;
  expect(since).toEqual([
    -70 * minuteMs,
    -10 * minuteMs - 5_000,
    -10 * minuteMs - 10_000,
    -10 * minuteMs - 5_000,
  ]);
});
