// If many workflows are missing at once, Temporal's data was probably lost or restored to an
// earlier time, and an operator may still be able to restore it. Ending a run cannot be undone, so
// no run is ended until an operator accepts the loss, or the number falls. The alarm is stored in
// Postgres, because any worker may make the next pass.

import { limits } from '../../../core/limits.ts';
import type { RunOutline } from '../../../core/runs/run.ts';
import type { WorkflowState } from '../../../systems/temporal/client.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { forceEndRun } from './force-end-run.ts';

export interface DescribedRun {
  run: RunOutline;
  workflow: WorkflowState;
}

interface MissingWorkflows {
  /** Called before the first page of all active runs. */
  beginSweep(): void;
  /** Ends the runs of a page whose workflows are missing, or raises the alarm. */
  endRuns(described: DescribedRun[]): Promise<void>;
  /** Called after the last page. */
  finishSweep(): Promise<void>;
}

const logEveryMs = 60_000;

const hint =
  'No run without a workflow is ended. If Temporal has lost its data or was restored to an earlier time, ' +
  'restore the current data, or accept the loss with `flowrun temporal adopt --confirm`.';

export function createMissingWorkflows(deps: ReconcilerDeps): MissingWorkflows {
  const { temporal, temporalIdentity, logger } = deps;
  let sweepBeganAt = performance.now();
  let loggedAt = -Infinity;
  /** The age of an alarm cannot tell: a slow query makes it older than the sweep. */
  let wasRaisedInSweep = false;
  /** True at first, because a process that has since died may have raised the alarm. */
  let mayBeRaised = true;

  async function raise(counts: { missing: number; described: number }): Promise<void> {
    mayBeRaised = true;
    wasRaisedInSweep = true;
    await temporalIdentity.recordMissing(counts);
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    logger.error({ ...counts, hint }, 'workflows_missing');
  }

  return {
    beginSweep() {
      sweepBeganAt = performance.now();
      wasRaisedInSweep = false;
    },
    async endRuns(described) {
      const missing = described.filter(({ workflow }) => workflow === 'missing');
      if (missing.length === 0) return;
      // The answers count only if they came from the Temporal that the database belongs to.
      await temporal.verifyIdentity();
      const known = await temporalIdentity.find();
      if (known === null) return; // a restore of Postgres has just removed it
      const isAccepted = ({ run }: DescribedRun): boolean => isBefore(run, known.lossesAcceptedAt);
      const unaccepted = missing.filter((each) => !isAccepted(each)).length;
      const isRaised = known.missingWorkflows !== null;
      const isHeld = isTooMany(unaccepted, described.length);
      if (isHeld) await raise({ missing: unaccepted, described: described.length });
      mayBeRaised ||= isRaised;
      const lost = isHeld || isRaised ? missing.filter(isAccepted) : missing;
      await forEachRun(
        lost.map(({ run }) => run),
        deps,
        (run) => forceEndRun(deps, run, lostWorkflow),
      );
    },
    async finishSweep() {
      if (!mayBeRaised || wasRaisedInSweep) return;
      const outcome = await temporalIdentity.clearMissing(performance.now() - sweepBeganAt);
      if (outcome === 'cleared') logger.info('workflows_found');
      mayBeRaised = outcome === 'raised';
    },
  };
}

/** Counted within one page. */
const isTooMany = (missing: number, described: number): boolean =>
  missing > limits.reconciler.missingWorkflowsMax &&
  missing > limits.reconciler.missingWorkflowsMaxShare * described;

const isBefore = ({ workflowStartedAt }: RunOutline, time: Date | null): boolean =>
  time !== null && workflowStartedAt !== null && workflowStartedAt <= time;

const lostWorkflow = {
  cause: 'max_reconnects_exceeded',
  detail: 'Temporal has lost its workflow',
} as const;
