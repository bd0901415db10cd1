import type { StoredFrame } from '../../../core/frames/frame.ts';
import type { Db } from '../client/pool.ts';
import type { SandboxLease } from '../log/lease.ts';

/**
 * The frames that announce a sandbox; null if it was announced before. One transaction, so that a
 * sandbox is announced once even if the process dies.
 */
export async function markStarted(
  db: Db,
  { runId, generation, token }: SandboxLease,
): Promise<StoredFrame[] | null> {
  const name = 'mark_sandbox_started';
  const text = `select seq, at, event, channel, data from ${name}($1, $2, $3)`;
  const values = [runId, generation, token];
  const { rows } = await db.query<StoredFrame>({ name, text, values });
  return rows.length === 0 ? null : rows;
}
