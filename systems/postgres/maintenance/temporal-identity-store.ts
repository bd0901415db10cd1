import type { TemporalIdentity } from '../../../core/temporal/temporal-identity.ts';
import type { Db, Pool } from '../client/pool.ts';

/** Too many workflows were missing at once, so the reconciler ended none of their runs. */
export interface MissingWorkflows {
  missing: number;
  /** How many were described. */
  described: number;
  since: Date;
}

interface KnownIdentity extends TemporalIdentity {
  /** An operator has accepted that workflows that were started before may be missing. */
  lossesAcceptedAt: Date | null;
  /** Null if the reconciler ends the runs of missing workflows. */
  missingWorkflows: MissingWorkflows | null;
}

export type TemporalIdentityStore = ReturnType<typeof createTemporalIdentityStore>;

export function createTemporalIdentityStore(pool: Pool) {
  return {
    /** Stores the identity if none is stored. Returns the stored one. */
    remember: (found: TemporalIdentity) => remember(pool, found),
    /** Null before any process has reached Temporal, and after a restore. */
    find: () => find(pool),
    /**
     * Replaces the identity, accepts that all workflows started until now may be missing, and marks
     * all schedules as not synced.
     */
    adopt: (found: TemporalIdentity) => adopt(pool, found),
    /** Raises the alarm, or keeps it raised. */
    recordMissing: (counts: Omit<MissingWorkflows, 'since'>) => recordMissing(pool, counts),
    /** Clears the alarm if no call of `recordMissing` was made for this long. */
    clearMissing: (forMs: number) => clearMissing(pool, forMs),
    /** How many active runs have a workflow that was started. */
    countActiveWorkflows: () => countActiveWorkflows(pool),
  };
}

interface Row {
  clusterId: string | null;
  namespaceId: string;
  namespace: string;
  lossesAcceptedAt: Date | null;
  missing: number | null;
  described: number | null;
  since: Date | null;
}

async function find(db: Db): Promise<KnownIdentity | null> {
  const { rows } = await db.query<Row>(
    `select cluster_id as "clusterId", namespace_id as "namespaceId", namespace,
            losses_accepted_at as "lossesAcceptedAt", missing_workflows as missing,
            described_workflows as described, missing_since as since
     from temporal_identity where namespace_id is not null`,
  );
  const row = rows[0];
  if (!row) return null;
  const { missing, described, since, ...identity } = row;
  const isKnown = missing !== null && described !== null && since !== null;
  return { ...identity, missingWorkflows: isKnown ? { missing, described, since } : null };
}

/** Concurrent first calls store one identity, and all return it. */
async function remember(db: Db, found: TemporalIdentity): Promise<TemporalIdentity> {
  const known = await find(db);
  if (known !== null) return known;
  await db.query(
    `insert into temporal_identity as t (cluster_id, namespace_id, namespace) values ($1, $2, $3)
     on conflict (is_only) do update
       set cluster_id = excluded.cluster_id, namespace_id = excluded.namespace_id,
           namespace = excluded.namespace
       where t.namespace_id is null`,
    [found.clusterId, found.namespaceId, found.namespace],
  );
  const stored = await find(db);
  if (stored === null) throw new Error('the identity of Temporal was not stored');
  return stored;
}

async function adopt(db: Db, found: TemporalIdentity): Promise<void> {
  await db.query(
    `with resynced as (
       update flows set schedule_synced_version = 0 where schedule_synced_version is not null
     )
     insert into temporal_identity (cluster_id, namespace_id, namespace, losses_accepted_at)
     values ($1, $2, $3, db_clock())
     on conflict (is_only) do update
       set cluster_id = excluded.cluster_id, namespace_id = excluded.namespace_id,
           namespace = excluded.namespace, losses_accepted_at = excluded.losses_accepted_at,
           missing_workflows = null, described_workflows = null, missing_since = null,
           missing_seen_at = null`,
    [found.clusterId, found.namespaceId, found.namespace],
  );
}

async function recordMissing(
  db: Db,
  { missing, described }: Omit<MissingWorkflows, 'since'>,
): Promise<void> {
  await db.query(
    `update temporal_identity
     set missing_workflows = $1, described_workflows = $2, missing_seen_at = db_clock(),
         missing_since = coalesce(missing_since, db_clock())`,
    [missing, described],
  );
}

/** `raised`: the alarm remains. `none`: there was no alarm. */
async function clearMissing(db: Db, forMs: number): Promise<'cleared' | 'raised' | 'none'> {
  const { rowCount } = await db.query(
    `update temporal_identity
     set missing_workflows = null, described_workflows = null, missing_since = null,
         missing_seen_at = null
     where missing_seen_at < db_clock() - $1 * interval '1 ms'`,
    [forMs],
  );
  if (rowCount === 1) return 'cleared';
  const known = await find(db);
  return known === null || known.missingWorkflows === null ? 'none' : 'raised';
}

async function countActiveWorkflows(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from runs where ended_at is null and workflow_started_at is not null`,
  );
  return rows[0]?.count ?? 0;
}
