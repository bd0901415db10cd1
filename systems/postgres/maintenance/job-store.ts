import type { Db, Pool } from '../client/pool.ts';

/** The reconciler's jobs that cover all hosts. */
export type JobName =
  | 'hosts'
  | 'runs'
  | 'closed_workflows'
  | 'slots'
  | 'schedules'
  | 'retention'
  | 'blobs'
  | 'packing'
  | 'stored_bytes';

interface JobLeader {
  name: JobName;
  /** The worker's host. */
  leader: string;
}

export type JobStore = ReturnType<typeof createJobStore>;

/** Each job has one leader at a time. Its lease expires if its worker dies. */
export function createJobStore(pool: Pool) {
  return {
    /**
     * Claims the job, or renews the lease of its leader. False while another worker leads the job,
     * or before the job is due again.
     */
    claim: (job: JobLeader & { leaseMs: number }) => claim(pool, job),
    /** Any worker may claim the job after the pause. No effect if another worker leads it. */
    release: (job: JobLeader & { pauseMs: number }) => release(pool, job),
  };
}

/** The name is part of the text, so that `pg_stat_statements` shows the jobs apart. */
async function claim(
  db: Db,
  { name, leader, leaseMs }: JobLeader & { leaseMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into reconciler_jobs as j (name, leader, free_at)
     values ('${name}', $1, db_clock() + $2 * interval '1 ms')
     on conflict (name) do update set leader = excluded.leader, free_at = excluded.free_at
       where j.leader = excluded.leader or j.free_at <= db_clock()`,
    [leader, leaseMs],
  );
  return rowCount === 1;
}

async function release(
  db: Db,
  { name, leader, pauseMs }: JobLeader & { pauseMs: number },
): Promise<void> {
  await db.query(
    `update reconciler_jobs set leader = null, free_at = db_clock() + $3 * interval '1 ms'
     where name = $1 and leader = $2`,
    [name, leader, pauseMs],
  );
}
