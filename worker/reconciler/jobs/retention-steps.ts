// Retention is apart from the other jobs, because deleting large data takes long. It pauses between
// two calls for as long as the last one took, so that it uses at most half of the time.

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

/** Each step applies its part of the retention if that is due. */
export function createRetentionSteps(
  deps: Pick<ReconcilerDeps, 'jobs' | 'hostId' | 'retention' | 'retentionTimes' | 'logger'>,
): Step[] {
  const { purgeRows, rowsDueInMs, purgeBlobs, foldStoredBytes } = createRetention(deps);

  function purgeStep(name: JobName, purge: () => Promise<boolean>, dueInMs: () => number): Step {
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

  return [
    purgeStep('retention', purgeRows, rowsDueInMs),
    purgeStep('blobs', purgeBlobs, () => limits.blob.gcEveryMs),
    purgeStep('packing', createPacking(deps), () => packingLimits.everyMs),
    purgeStep('stored_bytes', foldStoredBytes, () => limits.retention.foldEveryMs),
  ];
}

async function purgeAll(
  { lease, purge }: { lease: JobLease; purge: () => Promise<boolean> },
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted && (await lease.keep())) {
    const startedAt = performance.now();
    if (await withStepDeadline(lease.endMs(), purge)) return true;
    await sleep(performance.now() - startedAt, signal);
  }
  return false;
}
