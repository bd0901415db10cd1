// Retention is apart from the other jobs, because deleting large data takes long. It pauses between
// two calls for as long as the last one took, so that it uses at most half of the time.

import { limits } from '../../../core/limits.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { createJobLease, type JobLease } from '../job-lease.ts';
import { createRetention } from './retention.ts';

interface PurgeJob {
  lease: JobLease;
  purge(): Promise<boolean>;
  everyMs: number;
}

/** Applies the retention when it is due, until the signal. */
export function createRetentionLoop(
  deps: Pick<ReconcilerDeps, 'jobs' | 'hostId' | 'retention' | 'retentionTimes' | 'logger'>,
): (signal: AbortSignal) => Promise<void> {
  const { jobPollMs } = limits.reconciler;
  const { purgeRows, purgeBlobs } = createRetention(deps);
  const rows: PurgeJob = {
    lease: createJobLease(deps, 'retention', jobPollMs),
    purge: purgeRows,
    everyMs: limits.retention.everyMs,
  };
  const blobs: PurgeJob = {
    lease: createJobLease(deps, 'blobs', jobPollMs),
    purge: purgeBlobs,
    everyMs: limits.blob.gcEveryMs,
  };

  async function attempt({ lease, purge, everyMs }: PurgeJob, signal: AbortSignal): Promise<void> {
    if (!(await lease.claim())) return;
    const isDone = await purgeAll({ lease, purge }, signal);
    await lease.release(isDone ? everyMs : 0);
  }

  return async (signal) => {
    while (!signal.aborted) {
      for (const job of [rows, blobs]) {
        await attempt(job, signal).catch((err: unknown) =>
          deps.logger.warn({ err, step: job.lease.name }, 'reconcile_step_failed'),
        );
      }
      await sleep(jobPollMs, signal);
    }
  };
}

async function purgeAll(
  { lease, purge }: Pick<PurgeJob, 'lease' | 'purge'>,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted && (await lease.keep())) {
    const startedAt = performance.now();
    if (await purge()) return true;
    await sleep(performance.now() - startedAt, signal);
  }
  return false;
}
