import { stripUnstorable } from '../../../core/sanitize-text.ts';
import type { Db } from '../client/pool.ts';
import type { DeliveryTables } from './claim-attempt.ts';

export interface AttemptResult {
  /** Null if no response arrived. */
  status: number | null;
  error: string | null;
  delivery?: number;
}

interface EndedAttempt extends AttemptResult {
  /** The ID of the run or of the event. */
  id: string;
  attempt: number;
}

/** A status of 2xx completes the delivery. */
export async function recordAttempt(
  db: Db,
  { deliveries, attempts, id, prefix }: DeliveryTables,
  ended: EndedAttempt,
): Promise<void> {
  const { attempt, delivery = 0, status, error } = ended;
  await db.query(
    `with recorded as (
       update ${attempts} set finished_at = db_clock(), status = $4, error = $5
       where ${id} = $1 and delivery = $3 and attempt = $2
       returning ${id} as id
     )
     update ${deliveries} r
     set ${prefix}last_status = $4,
         ${prefix}state = case when $4 between 200 and 299 then 'delivered' else ${prefix}state end
     from recorded
     where r.id = recorded.id and r.${prefix}state <> 'delivered'`,
    [ended.id, attempt, delivery, status, error && stripUnstorable(error)],
  );
}
