// What a host knows of its database from outside. A database that has fewer heartbeats of a host than it
// once confirmed has lost commits.

import type { Db, Pool } from '../client/pool.ts';

/** What a confirmed heartbeat tells of the database. The worker stores it outside Postgres. */
export interface KnownDatabase {
  /** Copies of a database have the same. */
  databaseId: string;
  /** How many heartbeats of the host the database has. */
  heartbeats: number;
  /** The restores that the database had. */
  restores: string[];
}

export type LossStore = ReturnType<typeof createLossStore>;

export function createLossStore(pool: Pool) {
  return {
    /** Whether the database has lost a confirmed heartbeat of the host. False for another database. */
    isBehind: (hostId: string, known: KnownDatabase) => isBehind(pool, hostId, known),
    /** Handles lost commits as a restore. False if a restore that the host did not know covers them. */
    recordLoss: (hostId: string, known: KnownDatabase) => recordLoss(pool, hostId, known),
  };
}

/** SQL that is true if this database has fewer heartbeats of the host than it once confirmed. */
export const hasLost = (hostId: string, databaseId: string, heartbeats: string): string =>
  `exists (
     select from database_identity d left join hosts seen on seen.id = ${hostId}
     where d.id = ${databaseId}::uuid and coalesce(seen.heartbeats, 0) < ${heartbeats}::bigint
   )`;

/** The last two parameters of `hasLost`. */
export const knownValues = (known: KnownDatabase | null) => [
  known?.databaseId ?? null,
  known?.heartbeats ?? 0,
];

async function isBehind(db: Db, hostId: string, known: KnownDatabase): Promise<boolean> {
  const { rows } = await db.query<{ isBehind: boolean }>(
    `select ${hasLost('$1', '$2', '$3')} as "isBehind"`,
    [hostId, ...knownValues(known)],
  );
  return rows[0]?.isBehind ?? false;
}

async function recordLoss(db: Db, hostId: string, { restores }: KnownDatabase): Promise<boolean> {
  const text = 'select record_loss($1, $2::uuid[]) as recorded';
  const { rows } = await db.query<{ recorded: boolean }>(text, [hostId, restores]);
  return rows[0]?.recorded ?? false;
}
