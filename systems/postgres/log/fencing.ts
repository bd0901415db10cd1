import type { Db } from '../client/pool.ts';
import type { SnapshotRef } from './lease.ts';

/** SQL that is true while this token is the current one of the run's log, and without a token. */
export const leaseIsCurrent = (runId: string, token: string): string =>
  `(${token}::bigint is null
    or exists (select from run_logs l where l.run_id = ${runId} and l.lease_token = ${token}))`;

/**
 * Whether this is the run's last sandbox, its lease is current if it has one, and retention has not
 * removed the run's files. All of that remains true until the transaction ends. The lease is checked
 * after the row is locked, so that the next holder writes after this one.
 */
export async function lockCurrentGeneration(
  db: Db,
  { runId, generation, token }: SnapshotRef,
): Promise<boolean> {
  const lock = `
    select from runs where id = $1 and generation = $2 and files_purged_at is null
    for no key update`;
  if ((await db.query(lock, [runId, generation])).rowCount !== 1) return false;
  const check = `select from runs r where r.id = $1 and ${leaseIsCurrent('r.id', '$2')}`;
  return (await db.query(check, [runId, token ?? null])).rowCount === 1;
}
