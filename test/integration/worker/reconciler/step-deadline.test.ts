// Each request to Temporal takes as long as a client waits for the answer, so a pass takes as long
// as it can. The clock of these tests moves only in the requests.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { remainingMs } from '../../../../lib/async/run-until.ts';
import { setupReconciler } from './setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

const requestMs = 4_000;
/** Each pass makes progress. */
const passesMax = 60;

/** Returns by how much the last request of any step ended before the lease of its job. */
function slowTemporal(): { leastMarginMs(): number } {
  const { temporal, jobs } = fixture.deps;
  const { claim } = jobs;
  let leaseEndMs = 0;
  let leastMarginMs = Infinity;
  jobs.claim = async (job) => {
    const at = performance.now();
    const isClaimed = await claim(job);
    // The schedules are claimed in a step of the job whose lease counts.
    if (isClaimed && job.name !== 'schedules') leaseEndMs = at + job.leaseMs;
    return isClaimed;
  };
  const slow =
    <A extends unknown[], R>(request: (...args: A) => R) =>
    async (...args: A): Promise<Awaited<R>> => {
      const ms = Math.min(requestMs, remainingMs());
      const endMs = performance.now() + ms;
      await sleep(5); // other requests begin
      vi.advanceTimersByTime(Math.max(0, endMs - performance.now()));
      leastMarginMs = Math.min(leastMarginMs, leaseEndMs - performance.now());
      if (ms < requestMs) throw new Error('the request was cut off');
      return await request(...args);
    };
  Object.assign(temporal, {
    check: slow(temporal.check),
    verifyIdentity: slow(temporal.verifyIdentity),
    stopRun: slow(temporal.stopRun),
    describe: slow(temporal.describe),
    closedAt: slow(temporal.closedAt),
    hasFinished: slow(temporal.hasFinished),
    webhookAttempts: slow(temporal.webhookAttempts),
    terminate: slow(temporal.terminate),
    workflowsSince: slow(temporal.workflowsSince),
    closedWorkflows: slow(temporal.closedWorkflows),
    startWebhook: slow(temporal.startWebhook),
  });
  return { leastMarginMs: () => leastMarginMs };
}

const callbackUrl = 'https://receiver.example/';

async function manyRuns(count: number, workflow: 'closed' | 'missing'): Promise<Run[]> {
  const runs: Run[] = [];
  for (let made = 0; made < count; made += 1) {
    const run = await fixture.started(await scenario.run({ callbackUrl }));
    if (workflow === 'closed') fixture.workflows.set(run.workflowId, 'closed');
    else fixture.workflows.delete(run.workflowId);
    runs.push(run);
  }
  return runs;
}

const active = async (): Promise<number | null> =>
  (await database.pool.query('select from runs where ended_at is null')).rowCount;

async function passUntilAllEnded(): Promise<void> {
  for (let pass = 0; pass < passesMax && (await active()) !== 0; pass += 1)
    await fixture.reconciler.pass();
  expect(await active()).toBe(0);
}

const stopped = { cause: 'stopped_by_api', detail: null } as const;

it('ends each step before its lease while it sends stops again, to the stuck runs first', async () => {
  const runs = await manyRuns(8, 'closed');
  for (const { runId } of runs) await fixture.runs.recordCause({ runId, ...stopped });
  const stuck = runs.slice(0, 4).map(({ runId }) => runId);
  const text = `update runs set end_cause_at = end_cause_at - interval '2 hours' where id = any($1)`;
  await database.pool.query(text, [stuck]);
  fixture.deps.temporal.closedWorkflows = async () => ({ workflowIds: [], next: null });
  const { leastMarginMs } = slowTemporal();
  await passUntilAllEnded();
  expect(leastMarginMs()).toBeGreaterThan(0);
});

it('ends each step before its lease while it ends runs of closed workflows', async () => {
  await manyRuns(6, 'closed');
  const { leastMarginMs } = slowTemporal();
  await passUntilAllEnded();
  expect(leastMarginMs()).toBeGreaterThan(0);
});

it('ends each step before its lease while it ends runs of missing workflows', async () => {
  await manyRuns(4, 'missing');
  const { leastMarginMs } = slowTemporal();
  await passUntilAllEnded();
  expect(leastMarginMs()).toBeGreaterThan(0);
});

it('ends each step before its lease while it compares a restore', async () => {
  await manyRuns(6, 'closed');
  for (let n = 0; n < 6; n += 1) fixture.workflows.set(`run/unknown-${n}`, 'running');
  await database.pool.query(`select record_restore(db_clock() - interval '1 day')`);
  await database.pool.query(`update restores set restored_at = restored_at - interval '90 s'`);
  const { leastMarginMs } = slowTemporal();
  await passUntilAllEnded();
  expect([...fixture.workflows.values()]).not.toContain('running');
  expect(leastMarginMs()).toBeGreaterThan(0);
});
