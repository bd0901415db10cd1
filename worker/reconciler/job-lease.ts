import { limits } from '../../core/limits.ts';
import type { JobName } from '../../systems/postgres/maintenance/job-store.ts';
import type { ReconcilerDeps } from './deps.ts';

/**
 * The right of this worker to do a job for all hosts. It remains between two passes, because the
 * leader remembers what it has already sent. A step ends before the lease, see step-deadline.ts.
 * Two workers may do a job at the same time only if one of them stalls, or a statement in Postgres
 * takes longer than the lease, so every step is safe to run twice.
 */
export interface JobLease {
  /** False while another worker leads the job, or before the job is due. */
  claim(): Promise<boolean>;
  /** Renews the lease when it has become old. False if another worker leads the job. */
  keep(): Promise<boolean>;
  /** When the lease ends at the earliest, as a time of `performance.now()`. */
  endMs(): number;
  /** Any worker may claim the job after the pause. */
  release(pauseMs: number): Promise<void>;
}

export function createJobLease(
  { jobs, hostId }: Pick<ReconcilerDeps, 'jobs' | 'hostId'>,
  name: JobName,
  /** Between two claims of the leader. */
  everyMs = 0,
): JobLease {
  const leaseMs = everyMs + limits.reconciler.leaseMs;
  let claimedAt: number | null = null;

  async function claim(): Promise<boolean> {
    const at = performance.now();
    claimedAt = (await jobs.claim({ name, leader: hostId, leaseMs })) ? at : null;
    return claimedAt !== null;
  }

  return {
    claim,
    async keep() {
      if (claimedAt === null) return false;
      return performance.now() - claimedAt < limits.reconciler.leaseMs / 4 || claim();
    },
    endMs: () => (claimedAt === null ? performance.now() : claimedAt + leaseMs),
    async release(pauseMs) {
      if (claimedAt === null) return;
      claimedAt = null;
      await jobs.release({ name, leader: hostId, pauseMs });
    },
  };
}
