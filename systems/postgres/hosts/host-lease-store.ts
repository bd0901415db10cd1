import type { Db, Pool } from '../client/pool.ts';

/** The right of one worker to use a host's ID. The worker renews it with each heartbeat. */
export interface HostLease {
  hostId: string;
  /** The machine and the data folder of the worker. */
  owner: string;
}

/** The lease of another worker. The number changes while that worker is alive. */
interface OtherLease {
  renewals: number;
}

export type HostLeaseStore = ReturnType<typeof createHostLeaseStore>;

export function createHostLeaseStore(pool: Pool) {
  return {
    /**
     * Claims the ID for this worker, or returns the lease of another one. A lease of the same owner
     * is replaced at once. An expired one of another owner is replaced if it still has `unchanged`
     * renewals.
     */
    claim: (lease: HostLease & { leaseMs: number; unchanged: number | null }) => claim(pool, lease),
    /** Lets any other worker use the ID at once. */
    release: (lease: HostLease) => release(pool, lease),
  };
}

async function claim(
  db: Db,
  { hostId, owner, leaseMs, unchanged }: HostLease & { leaseMs: number; unchanged: number | null },
): Promise<OtherLease | null> {
  const { rowCount } = await db.query(
    `insert into host_leases as l (host_id, owner, expires_at)
     values ($1, $2, db_clock() + $3 * interval '1 ms')
     on conflict (host_id) do update
       set owner = excluded.owner, renewals = l.renewals + 1, expires_at = excluded.expires_at
       where l.owner = excluded.owner or (l.renewals = $4 and l.expires_at < db_clock())`,
    [hostId, owner, leaseMs, unchanged],
  );
  if (rowCount === 1) return null;
  const text = 'select renewals from host_leases where host_id = $1';
  const { rows } = await db.query<OtherLease>(text, [hostId]);
  return rows[0] ?? { renewals: -1 }; // released in between: the next claim succeeds
}

async function release(db: Db, { hostId, owner }: HostLease): Promise<void> {
  await db.query('delete from host_leases where host_id = $1 and owner = $2', [hostId, owner]);
}
