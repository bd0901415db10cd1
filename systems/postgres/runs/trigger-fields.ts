import type { Db } from '../client/pool.ts';

/** Fields of the trigger that the run does not show. */
export interface TriggerFields {
  callbackUrl: string | null;
  /** JSON text. */
  outputSchema: string | null;
}

/** Separate from the run, which is read often and in lists. */
export async function readTriggerFields(db: Db, runId: string): Promise<TriggerFields> {
  const { rows } = await db.query<TriggerFields>(
    `select callback_url as "callbackUrl", output_schema as "outputSchema" from runs where id = $1`,
    [runId],
  );
  if (!rows[0]) throw new Error(`no run ${runId}`);
  return rows[0];
}
