// Every few seconds, each worker compares Postgres, Temporal and Docker in both directions. This
// does not rely on workflows, because it repairs broken ones. Steps for all hosts run under a lock,
// in one worker at a time. Steps for a host's engine run in its own worker. Every step is safe to
// repeat.

import { sleep } from '../../lib/async/sleep.ts';
import type { ReconcilerDeps } from './deps.ts';
import { createHostDrainer } from './hosts/drain-hosts.ts';
import { createLostHostHandler } from './hosts/lost-hosts.ts';
import { createUnstartedMover } from './hosts/move-unstarted.ts';
import { removeOrphanedSandboxes } from './hosts/remove-orphaned-sandboxes.ts';
import { createRetentionJob } from './jobs/retention.ts';
import { createScheduleSync } from './jobs/sync-schedules.ts';
import { createRestoreReconciler } from './restore/reconcile-restore.ts';
import { createWorkflowReconciler } from './runs/reconcile-workflows.ts';
import { createStopResender } from './runs/resend-stop.ts';
import { resumePendingWebhooks } from './runs/resume-webhooks.ts';
import { signalMessages } from './runs/signal-messages.ts';
import { startUnstarted } from './runs/start-unstarted.ts';

interface Reconciler {
  /** Runs every step once. Never throws. */
  pass(): Promise<void>;
  /** Repeats passes until the signal. No step starts after it. */
  run(signal: AbortSignal): Promise<void>;
}

type Step = readonly [name: string, work: (signal: AbortSignal) => Promise<void>];

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const restores = createRestoreReconciler(deps);
  const temporalSteps: Step[] = [
    ['start_unstarted', () => startUnstarted(deps)],
    ['move_unstarted', createUnstartedMover(deps)],
    ['signal_messages', () => signalMessages(deps)],
    ['reconcile_restore', restores.reconcile],
    ['resend_stop', createStopResender(deps)],
    ['reconcile_workflows', createWorkflowReconciler(deps, restores)],
    ['sync_schedules', createScheduleSync(deps)],
    ['resume_webhooks', () => resumePendingWebhooks(deps)],
    ['drain_hosts', createHostDrainer(deps)],
  ];
  const globalSteps: Step[] = [
    ['lost_hosts', createLostHostHandler(deps)],
    ['temporal', (signal) => deps.temporal.check().then(() => take(temporalSteps, signal))],
    ['retention', createRetentionJob(deps)],
  ];
  const all: Step[] = [
    [
      'global',
      async (signal) => void (await deps.reconcile.withGlobalLock(() => take(globalSteps, signal))),
    ],
    ['remove_orphaned_sandboxes', () => removeOrphanedSandboxes(deps)],
    ['remove_orphaned_folders', deps.removeOrphanedFolders],
  ];

  /** A failed step does not prevent the others. */
  async function take(steps: readonly Step[], signal: AbortSignal): Promise<void> {
    for (const [step, work] of steps) {
      if (signal.aborted) return;
      await work(signal).catch((error: unknown) =>
        deps.logger.warn({ err: error, step }, 'reconcile_step_failed'),
      );
    }
  }

  return {
    pass: () => take(all, neverStopped),
    run: async (signal) => {
      while (!signal.aborted) {
        await take(all, signal);
        await sleep(deps.thresholds.everyMs, signal);
      }
    },
  };
}

const neverStopped = new AbortController().signal;
