import type { Db } from '../client/pool.ts';

/** What a run was asked for and its record does not show. */
export interface TriggerFields {
  callbackUrl: string | null;
  /** JSON text. */
  outputSchema: string | null;
}

/** Apart from the run, which is read often and in lists. */
export async function readTriggerFields(db: Db, runId: string): Promise<TriggerFields> {
  const { rows } = await db.query<TriggerFields>(
    `select callback_url as "callbackUrl", output_schema as "outputSchema" from runs where id = $1`,
    [runId],
  );
  if (!rows[0]) throw new Error(`there is no run ${runId}`);
  return rows[0];
}
