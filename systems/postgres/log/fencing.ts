import type { Db } from '../client/pool.ts';

/** That whoever speaks of a sandbox has the lease of its log still, where he has said which. */
export const leaseIsCurrent = (runId: string, token: string): string =>
  `(${token}::bigint is null
    or exists (select from run_logs l where l.run_id = ${runId} and l.lease_token = ${token}))`;

/**
 * Whether this is the run's last sandbox; then it stays that until the transaction ends. One that was
 * followed by another has no say any more, however late it speaks. Nor has whoever looked after it
 * before: the lease is looked at behind the lock, so that its next holder stores after him.
 */
export async function lockCurrentGeneration(
  db: Db,
  { runId, generation, token }: { runId: string; generation: number; token?: number },
): Promise<boolean> {
  const lock = 'select from runs where id = $1 and generation = $2 for no key update';
  if ((await db.query(lock, [runId, generation])).rowCount !== 1) return false;
  const look = `select from runs r where r.id = $1 and ${leaseIsCurrent('r.id', '$2')}`;
  return (await db.query(look, [runId, token ?? null])).rowCount === 1;
}
