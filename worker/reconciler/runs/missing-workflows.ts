// Temporal forgets single workflows at most. If many are missing at once, then more likely Temporal's data
// were lost or restored, and an operator may still get them back. The runs would be lost for good, so none
// ends until an operator accepts the loss, or the number falls. The alarm is stored in Postgres, because
// any worker may make the next pass.

import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { WorkflowState } from '../../../systems/temporal/client.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { forEachRun } from '../for-each-run.ts';
import { forceEndRun } from './force-end-run.ts';

export interface DescribedRun {
  run: Run;
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
  'No run of a missing workflow is ended. If Temporal was restored or lost its data, restore the right ' +
  'data, or accept the loss with `flowrun temporal adopt --confirm`.';

export function createMissingWorkflows(deps: ReconcilerDeps): MissingWorkflows {
  const { temporal, temporalIdentity, logger } = deps;
  let sweepBeganAt = performance.now();
  let loggedAt = -Infinity;
  /** A process that raised the alarm may have died. */
  let mayBeRaised = true;

  async function raise(counts: { missing: number; described: number }): Promise<void> {
    mayBeRaised = true;
    await temporalIdentity.recordMissing(counts);
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    logger.error({ ...counts, hint }, 'workflows_missing');
  }

  return {
    beginSweep() {
      sweepBeganAt = performance.now();
    },
    async endRuns(described) {
      const missing = described.filter(({ workflow }) => workflow === 'missing');
      if (missing.length === 0) return;
      // The server that was just asked may be another one since the beginning of this pass.
      await temporal.verifyIdentity();
      const known = await temporalIdentity.find();
      if (known === null) return; // restored in this moment
      const isAccepted = ({ run }: DescribedRun): boolean => isBefore(run, known.lossesAcceptedAt);
      const unaccepted = missing.filter((each) => !isAccepted(each)).length;
      const isRaised = known.missingWorkflows !== null;
      const isHeld = isTooMany(unaccepted, described.length);
      if (isHeld) await raise({ missing: unaccepted, described: described.length });
      mayBeRaised ||= isRaised;
      const lost = isHeld || isRaised ? missing.filter(isAccepted) : missing;
      await forEachRun(
        lost.map(({ run }) => run),
        logger,
        (run) => forceEndRun(deps, run, lostWorkflow),
      );
    },
    async finishSweep() {
      if (!mayBeRaised) return;
      const outcome = await temporalIdentity.clearMissing(performance.now() - sweepBeganAt);
      if (outcome === 'cleared') logger.info('workflows_found');
      mayBeRaised = outcome === 'raised';
    },
  };
}

/** At once, that is, in one page. */
const isTooMany = (missing: number, described: number): boolean =>
  missing > limits.reconciler.missingWorkflowsMax &&
  missing > limits.reconciler.missingWorkflowsMaxPart * described;

const isBefore = ({ workflowStartedAt }: Run, time: Date | null): boolean =>
  time !== null && workflowStartedAt !== null && workflowStartedAt <= time;

const lostWorkflow = {
  cause: 'max_reconnects_exceeded',
  detail: 'Temporal has lost its workflow',
} as const;
