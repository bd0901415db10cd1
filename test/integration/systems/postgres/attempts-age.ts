import type { TestDatabase } from '../../../support/database.ts';

/** Moves every webhook attempt that far into the past. */
export async function attemptsAge({ pool }: TestDatabase, ms: number): Promise<void> {
  await pool.query(
    `update webhook_attempts set started_at = started_at - $1 * interval '1 ms',
       finished_at = finished_at - $1 * interval '1 ms'`,
    [ms],
  );
}
