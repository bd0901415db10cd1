import type { Db } from '../client/pool.ts';
import type { DeliveryTables } from './claim-attempt.ts';

export interface MadeAttempt {
  /** 0: the first delivery; n: the n-th that an operator requested. */
  delivery: number;
  attempt: number;
  startedAt: Date;
  /** Null while it is in progress, and if its outcome was lost. */
  finishedAt: Date | null;
  status: number | null;
  error: string | null;
}

/** All attempts of the deliveries of a run or an event, in their order. */
export async function listAttempts(
  db: Db,
  { attempts, id }: DeliveryTables,
  ofId: string,
): Promise<MadeAttempt[]> {
  const { rows } = await db.query<MadeAttempt>(
    `select delivery, attempt, started_at as "startedAt", finished_at as "finishedAt", status, error
     from ${attempts} where ${id} = $1
     order by delivery, attempt`,
    [ofId],
  );
  return rows;
}
