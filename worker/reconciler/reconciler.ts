// Every worker compares Postgres, Temporal and Docker in both directions. This does not rely on
// workflows, because it repairs broken ones. A job that covers all hosts has one leader at a time;
// see job-lease.ts. Steps for a host's engine run in its own worker. Hosts are judged in a loop
// apart, and so are closed workflows found, is the retention applied and are logs packed, so that
// none waits for slow requests or large deletes. Every step is safe to repeat.

import { limits } from '../../core/limits.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { ReconcilerDeps } from './deps.ts';
import { createHostDrainer } from './hosts/drain-hosts.ts';
import { createLostHostHandler, mayJudgeHosts } from './hosts/lost-hosts.ts';
import { createUnstartedMover } from './hosts/move-unstarted.ts';
import { removeOrphanedSandboxes } from './hosts/remove-orphaned-sandboxes.ts';
import { createJobLease, type JobLease } from './job-lease.ts';
import { createPackingStep, createRetentionSteps } from './jobs/retention-steps.ts';
import { createScheduleSync } from './jobs/sync-schedules.ts';
import { createRestoreReconciler } from './restore/reconcile-restore.ts';
import { createClosedWorkflowFinder } from './runs/find-closed-workflows.ts';
import { createWorkflowReconciler } from './runs/reconcile-workflows.ts';
import { createStopResender } from './runs/resend-stop.ts';
import { createWebhookResumer } from './runs/resume-webhooks.ts';
import { createMessageSignaller } from './runs/signal-messages.ts';
import { startEvents } from './runs/start-events.ts';
import { createUnstartedStarter } from './runs/start-unstarted.ts';
import { createStepTaker, type Step } from './steps.ts';

interface Reconciler {
  /** Runs every step once, except the retention. Never throws. */
  pass(): Promise<void>;
  /** Repeats passes and applies the retention until the signal. No step starts after it. */
  run(signal: AbortSignal): Promise<void>;
}

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { everyMs } = deps.thresholds;
  const { attempt, take } = createStepTaker(deps);
  const runs = createJobLease(deps, 'runs', everyMs);
  const closed = createJobLease(deps, 'closed_workflows', everyMs);
  const hosts = createJobLease(deps, 'hosts', everyMs);
  const ofRuns = runSteps(deps);
  const ofClosed: Step[] = [['find_closed_workflows', createClosedWorkflowFinder(deps)]];
  const ofHosts: Step[] = [['lost_hosts', createLostHostHandler(deps)]];
  const ofRetention = createRetentionSteps(deps);
  const ofPacking = [createPackingStep(deps)];
  const local = localSteps(deps);

  /** A leader that does not reach Temporal leaves the job to another worker. */
  async function lead(lease: JobLease, steps: Step[], signal: AbortSignal): Promise<void> {
    if (!(await lease.claim())) return;
    try {
      await deps.temporal.check();
    } catch (error) {
      await lease.release(everyMs);
      throw error;
    }
    await take(steps, signal, lease);
  }

  /** A worker that may not judge does not renew its lease, so another one soon leads. */
  async function judgeHosts(signal: AbortSignal): Promise<void> {
    if (mayJudgeHosts(deps) && (await hosts.claim())) await take(ofHosts, signal, hosts);
  }

  const passHosts = (signal: AbortSignal) => attempt(['hosts', judgeHosts], signal);
  const passClosed = (signal: AbortSignal) =>
    attempt(['closed_workflows', (until) => lead(closed, ofClosed, until)], signal);
  async function passRuns(signal: AbortSignal): Promise<void> {
    await attempt(['runs', (until) => lead(runs, ofRuns, until)], signal);
    await take(local, signal);
  }
  const applyRetention = (signal: AbortSignal) => take(ofRetention, signal);
  const packLogs = (signal: AbortSignal) => take(ofPacking, signal);
  const releaseAll = async (): Promise<void> =>
    void (await Promise.all([runs, closed, hosts].map((lease) => lease.release(0))));

  return {
    async pass() {
      await passHosts(neverStopped);
      await passRuns(neverStopped);
      await passClosed(neverStopped);
    },
    async run(signal) {
      await Promise.all([
        repeat(passHosts, everyMs, signal),
        repeat(passClosed, everyMs, signal),
        repeat(passRuns, everyMs, signal),
        repeat(applyRetention, limits.reconciler.jobPollMs, signal),
        repeat(packLogs, limits.reconciler.jobPollMs, signal),
      ]);
      await attempt(['release', releaseAll], signal);
    },
  };
}

/** Steps of every worker for its own host. */
function localSteps(deps: ReconcilerDeps): Step[] {
  return [
    ['remove_orphaned_sandboxes', () => removeOrphanedSandboxes(deps)],
    ['remove_orphaned_folders', deps.removeOrphanedFolders],
    ['expire_buffers', deps.frameStream.retryExpiries],
  ];
}

function runSteps(deps: ReconcilerDeps): Step[] {
  const restores = createRestoreReconciler(deps);
  return [
    ['start_unstarted', createUnstartedStarter(deps)],
    ['move_unstarted', createUnstartedMover(deps)],
    ['signal_messages', createMessageSignaller(deps)],
    ['reconcile_restore', restores.reconcile],
    ['resend_stop', createStopResender(deps)],
    ['reconcile_workflows', createWorkflowReconciler(deps, restores)],
    ['sync_schedules', createScheduleSync(deps)],
    ['resume_webhooks', createWebhookResumer(deps)],
    ['start_events', () => startEvents(deps)],
    ['drain_hosts', createHostDrainer(deps)],
  ];
}

async function repeat(
  pass: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pass(signal);
    await sleep(everyMs, signal);
  }
}

const neverStopped = new AbortController().signal;
