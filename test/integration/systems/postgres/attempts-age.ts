import type { TestDatabase } from '../../../support/database.ts';

/** As if every attempt at a webhook had been made so much earlier. */
export async function attemptsAge({ pool }: TestDatabase, ms: number): Promise<void> {
  await pool.query(
    `update webhook_attempts set started_at = started_at - $1 * interval '1 ms',
       finished_at = finished_at - $1 * interval '1 ms'`,
    [ms],
  );
}
