import type { Db } from '../client/pool.ts';

/** What a run was asked for and its record does not show. */
export interface KeptFields {
  callbackUrl: string | null;
  /** JSON text. */
  outputSchema: string | null;
}

/** Apart from the run, which is read often and in lists. */
export async function readKeptFields(db: Db, runId: string): Promise<KeptFields> {
  const { rows } = await db.query<KeptFields>(
    `select callback_url as "callbackUrl", output_schema as "outputSchema" from runs where id = $1`,
    [runId],
  );
  if (!rows[0]) throw new Error(`there is no run ${runId}`);
  return rows[0];
}
