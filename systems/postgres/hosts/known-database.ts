// Compares the database with what is stored outside it. The database has lost commits if it has
// fewer heartbeats of a host than it once confirmed, or lacks a commit that Redis stores.

import type { CommitsInRedis } from '../../../core/hosts/commits-in-redis.ts';
import type { Db, Pool } from '../client/pool.ts';

/**
 * The properties of the database that a confirmed heartbeat returned. The worker stores them
 * outside Postgres.
 */
export interface KnownDatabase {
  /** Copies of a database have the same ID. */
  databaseId: string;
  /** When Postgres was started. A restart changes it, and so does a failover. */
  serverStartedMs: number;
  /** How many heartbeats of the host the database has. */
  heartbeats: number;
  /** The restores that the database had. */
  restores: string[];
}

/** Both are false if this is another database. */
interface Comparison {
  /** It has lost the last confirmed heartbeat of the host. */
  isBehind: boolean;
  /** Postgres was started again (restart or failover) since that heartbeat. */
  isRestarted: boolean;
  serverStartedMs: number;
}

export type LossStore = ReturnType<typeof createLossStore>;

export function createLossStore(pool: Pool) {
  return {
    /** Compares the database with what the host's last confirmed heartbeat returned. */
    compare: (hostId: string, known: KnownDatabase) => compare(pool, hostId, known),
    /** Whether the database lacks any of these commits, which reached Redis after Postgres. */
    lacksAny: (commits: CommitsInRedis) => lacksAny(pool, commits),
    /**
     * Handles lost commits as a restore. False if they are covered by a restore
     * that the host has not recorded.
     */
    recordLoss: (hostId: string, known: KnownDatabase) => recordLoss(pool, hostId, known),
  };
}

/** SQL that is true if this database has fewer heartbeats of the host than it once confirmed. */
const isBehind = (hostId: string, known: string): string =>
  `exists (
     select from database_identity d left join hosts seen on seen.id = ${hostId}
     where d.id = (${known}::jsonb ->> 'databaseId')::uuid
       and coalesce(seen.heartbeats, 0) < (${known}::jsonb ->> 'heartbeats')::bigint
   )`;

/** SQL for `serverStartedMs`. */
export const serverStartedMs = '(extract(epoch from pg_postmaster_start_time()) * 1000)::bigint';

/** SQL that is true if Postgres was started again, with this database. */
const isRestarted = (known: string): string =>
  `exists (
     select from database_identity d
     where d.id = (${known}::jsonb ->> 'databaseId')::uuid
       and ${serverStartedMs} <> (${known}::jsonb ->> 'serverStartedMs')::bigint
   )`;

/**
 * SQL that is true if the host has to check the database before its next heartbeat. Takes the
 * parameters of the host's ID and of its `KnownDatabase`; with null for the latter it is false.
 */
export const mustBeChecked = (hostId: string, known: string): string =>
  `(${isBehind(hostId, known)} or ${isRestarted(known)})`;

async function compare(db: Db, hostId: string, known: KnownDatabase): Promise<Comparison> {
  const { rows } = await db.query<Comparison>(
    `select ${isBehind('$1', '$2')} as "isBehind", ${isRestarted('$2')} as "isRestarted",
       ${serverStartedMs} as "serverStartedMs"`,
    [hostId, known],
  );
  if (!rows[0]) throw new Error('the comparison returned no row');
  return rows[0];
}

/** A session's run has the ID that was accepted. Only deleted runs disappear, and much later. */
async function lacksAny(db: Db, { acceptedIds, lastFrames }: CommitsInRedis): Promise<boolean> {
  const { rows } = await db.query<{ isLacking: boolean }>(
    `select exists (
       select from unnest($1::uuid[]) a(id)
       where not exists (select from runs r where r.id = a.id)
         and not exists (select from session_messages m where m.id = a.id)
     ) or exists (
       select from unnest($2::uuid[], $3::bigint[]) f(run_id, seq)
       join run_logs l on l.run_id = f.run_id and l.last_seq < f.seq
     ) as "isLacking"`,
    [acceptedIds, lastFrames.map(({ runId }) => runId), lastFrames.map(({ seq }) => seq)],
  );
  return rows[0]?.isLacking ?? false;
}

async function recordLoss(db: Db, hostId: string, { restores }: KnownDatabase): Promise<boolean> {
  const text = 'select record_loss($1, $2::uuid[]) as recorded';
  const { rows } = await db.query<{ recorded: boolean }>(text, [hostId, restores]);
  return rows[0]?.recorded ?? false;
}
