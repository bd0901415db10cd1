// Everything else that the leader does for runs takes as long as a step may take. With the steps of
// one loop, a closed workflow was noticed after more than a minute.

import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { limits } from '../../../../../core/limits.ts';
import { sleep } from '../../../../../lib/async/sleep.ts';
import { createReconciler } from '../../../../../worker/reconciler/reconciler.ts';
import { fakeRun } from '../../../../support/fake-run.ts';
import { measureSlowdown } from '../../../../support/processor-wait.ts';
import { useTemporal } from '../../../systems/temporal/use-temporal.ts';
import { openSessions } from '../open-sessions.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();
const { fixture: workflows, temporal } = useTemporal();
const { everyMs, stepMaxMs } = limits.reconciler;

let stopping: AbortController;
let running: Promise<void> | null = null;
afterEach(async () => {
  stopping.abort();
  await running;
});

/** The first query of each step takes as long as the step may take. */
function slowSteps(signal: AbortSignal) {
  const slow =
    <A extends unknown[], R>(query: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await sleep(stepMaxMs, signal);
      return query(...args);
    };
  const { reconcile, messages, schedules } = fixture.deps;
  return {
    reconcile: {
      ...reconcile,
      unstarted: slow(reconcile.unstarted),
      unstartedOnLeavingHosts: slow(reconcile.unstartedOnLeavingHosts),
      pendingRestore: slow(reconcile.pendingRestore),
      unfinishedStops: slow(reconcile.unfinishedStops),
      activeRuns: slow(reconcile.activeRuns),
      pendingWebhooks: slow(reconcile.pendingWebhooks),
      idleOnLeavingHosts: slow(reconcile.idleOnLeavingHosts),
    },
    messages: { ...messages, unsignalled: slow(messages.unsignalled) },
    schedules: { ...schedules, unsynced: slow(schedules.unsynced) },
  };
}

it('notices a terminated workflow within 30 s while each other step takes 10 s', async () => {
  stopping = new AbortController();
  await openSessions(database, scenario, 10_000);
  const runId = randomUUID();
  workflows.serve(runId, fakeRun().activities);
  const run = await scenario.run({ runId });
  await temporal.startRun({ ...run, hostId: workflows.hostId });
  await fixture.runs.markWorkflowStarted(runId);
  const thresholds = { ...fixture.deps.thresholds, everyMs };
  const deps = { ...fixture.deps, ...slowSteps(stopping.signal), thresholds, temporal };
  running = createReconciler(deps).run(stopping.signal);

  const slowdown = measureSlowdown(process.pid);
  const terminatedAt = performance.now();
  await temporal.terminate(run.workflowId, 'test');
  const isEnded = async () => (await fixture.read(run)).endedAt !== null;
  await expect.poll(isEnded, { timeout: 100_000, interval: 100 }).toBe(true);
  expect(performance.now() - terminatedAt).toBeLessThan(30_000 * slowdown());
  expect(await fixture.read(run)).toMatchObject({ endCause: 'terminated_by_operator' });
}, 120_000);
