import type { Db } from '../client/pool.ts';

/** The host and number of a session's next sandbox. */
export interface AssignedSandbox {
  hostId: string;
  generation: number;
}

export async function wakeSession(
  db: Db,
  runId: string,
  hostStaleMs: number,
): Promise<AssignedSandbox | null> {
  const text = 'select host_id as "hostId", generation from wake_session($1, $2)';
  const values = [runId, `${hostStaleMs} ms`];
  const { rows } = await db.query<AssignedSandbox>({ name: 'wake_session', text, values });
  return rows[0] ?? null;
}
