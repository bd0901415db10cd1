// Postgres, Temporal and Docker are compared both ways, every few seconds, by a loop in every worker:
// it is needed just when workflows are broken. What concerns all hosts is done by one worker at a
// time, under a lock; what concerns this host's engine, by its own. Every step is safe to repeat.

import { sleep } from '../../lib/async/sleep.ts';
import type { ReconcilerDeps } from './deps.ts';
import { createHostEmptier } from './hosts/drain-hosts.ts';
import { createHostJudge } from './hosts/lost-hosts.ts';
import { removeLeftovers } from './hosts/remove-orphaned-sandboxes.ts';
import { createSweeper } from './jobs/retention.ts';
import { createScheduleTeller } from './jobs/sync-schedules.ts';
import { createRestorationSettler } from './restore/reconcile-restore.ts';
import { createWorkflowJudge } from './runs/reconcile-workflows.ts';
import { createNudger } from './runs/resend-stop.ts';
import { deliverOwedWebhooks } from './runs/resume-webhooks.ts';
import { signalMessages } from './runs/signal-messages.ts';
import { startUnstarted } from './runs/start-unstarted.ts';

export interface Reconciler {
  /** One pass over everything; never throws. */
  pass(): Promise<void>;
  /** Passes until the signal, after which no further step is taken. */
  run(signal: AbortSignal): Promise<void>;
}

type Step = readonly [name: string, work: (signal: AbortSignal) => Promise<void>];

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const restorations = createRestorationSettler(deps);
  const byTemporal: Step[] = [
    ['start_unstarted', () => startUnstarted(deps)],
    ['signal_messages', () => signalMessages(deps)],
    ['settle_restoration', restorations.settle],
    ['nudge_endings', createNudger(deps)],
    ['judge_workflows', createWorkflowJudge(deps, restorations)],
    ['tell_schedules', createScheduleTeller(deps)],
    ['owed_webhooks', () => deliverOwedWebhooks(deps)],
    ['empty_hosts', createHostEmptier(deps)],
  ];
  const everywhere: Step[] = [
    ['lost_hosts', createHostJudge(deps)],
    ['by_temporal', (signal) => deps.temporal.check().then(() => take(byTemporal, signal))],
    ['sweep', createSweeper(deps)],
  ];
  const all: Step[] = [
    [
      'everywhere',
      async (signal) => void (await deps.reconcile.withGlobalLock(() => take(everywhere, signal))),
    ],
    ['remove_leftovers', () => removeLeftovers(deps)],
    ['sweep_sandboxes', deps.sweepSandboxes],
  ];

  /** A step that fails, something being away, keeps none of the others from its work. */
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
        await sleep(deps.times.everyMs, signal);
      }
    },
  };
}

const neverStopped = new AbortController().signal;
