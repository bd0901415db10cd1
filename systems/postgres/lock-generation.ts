import type { Db } from './pool.ts';

/**
 * Whether this is the run's last sandbox; then it stays that until the transaction ends. One that was
 * followed by another has no say any more, however late it speaks.
 */
export async function lockGeneration(
  db: Db,
  { runId, generation }: { runId: string; generation: number },
): Promise<boolean> {
  const text = 'select from runs where id = $1 and generation = $2 for no key update';
  return (await db.query(text, [runId, generation])).rowCount === 1;
}
