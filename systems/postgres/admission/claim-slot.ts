import type { Pool } from '../client/pool.ts';

interface ClaimedSlot {
  hostId: string;
  generation: number;
  /** The API request that started the run. */
  requestId: string | null;
}

export async function claimSlot(
  pool: Pool,
  {
    runId,
    afterGeneration,
    hostStaleMs,
  }: { runId: string; afterGeneration: number; hostStaleMs: number },
): Promise<ClaimedSlot | null> {
  const { rows } = await pool.query<ClaimedSlot>(
    `select claimed.host_id as "hostId", claimed.generation, r.request_id as "requestId"
     from claim_slot($1, $2, $3) claimed, runs r
     where r.id = $1 and claimed.host_id is not null`,
    [runId, afterGeneration, `${hostStaleMs} ms`],
  );
  return rows[0] ?? null;
}
