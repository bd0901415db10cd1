// Retention is apart from the other jobs, because deleting large data takes long. It pauses between
// two calls for as long as the last one took, so that it uses at most half of the time. Packing may
// take hours after an upgrade, so it delays neither the deletion nor the sums of stored bytes.

import { packingLimits } from '../../../core/frames/packing-limits.ts';
import { limits } from '../../../core/limits.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { JobName } from '../../../systems/postgres/maintenance/job-store.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { createJobLease, type JobLease } from '../job-lease.ts';
import { withStepDeadline } from '../step-deadline.ts';
import type { Step } from '../steps.ts';
import { createPacking } from './packing.ts';
import { createRetention } from './retention.ts';

type Deps = Pick<ReconcilerDeps, 'jobs' | 'hostId' | 'retention' | 'retentionTimes' | 'logger'>;

/** Each step applies its part of the retention if that is due. */
export function createRetentionSteps(deps: Deps): Step[] {
  const { purgeRows, rowsDueInMs, purgeBlobs, foldStoredBytes } = createRetention(deps);
  return [
    purgeStep(deps, 'retention', { purge: purgeRows, dueInMs: rowsDueInMs }),
    purgeStep(deps, 'blobs', { purge: purgeBlobs, dueInMs: () => limits.blob.gcEveryMs }),
    purgeStep(deps, 'stored_bytes', {
      purge: foldStoredBytes,
      dueInMs: () => limits.retention.foldEveryMs,
    }),
  ];
}

/** Runs until no log that is due is left, so it needs a loop apart from the others. */
export const createPackingStep = (deps: Deps): Step =>
  purgeStep(deps, 'packing', {
    purge: createPacking(deps),
    dueInMs: () => packingLimits.everyMs,
  });

interface Purge {
  /** Does a bounded part of the work. True if nothing is left. */
  purge(signal: AbortSignal): Promise<boolean>;
  /** After this time the job is due again, once nothing was left. */
  dueInMs(): number;
}

function purgeStep(deps: Deps, name: JobName, { purge, dueInMs }: Purge): Step {
  const lease = createJobLease(deps, name, limits.reconciler.jobPollMs);
  return [
    name,
    async (signal) => {
      if (!(await lease.claim())) return;
      const isDone = await purgeAll({ lease, purge }, signal);
      await lease.release(isDone ? dueInMs() : 0);
    },
  ];
}

async function purgeAll(
  { lease, purge }: { lease: JobLease } & Pick<Purge, 'purge'>,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted && (await lease.keep())) {
    const startedAt = performance.now();
    if (await withStepDeadline(lease.endMs(), () => purge(signal))) return true;
    await sleep(performance.now() - startedAt, signal);
  }
  return false;
}
