import type { QueryConfig } from 'pg';
import type { Db } from '../client/pool.ts';

const defaultWaitMs = 120_000;
/** A busy server reports the end of the wait late. */
const answerMs = 30_000;

/** The types of pg lack the timeout of a single query. */
type QueryWithTimeout = QueryConfig & { query_timeout: number };

/**
 * Waits longer than other statements, because another process may have to wait for locks. Held
 * until the connection closes, so the pool must have only one.
 */
export async function lockInitialResources(db: Db, waitMs = defaultWaitMs): Promise<void> {
  const query: QueryWithTimeout = {
    text: `set statement_timeout = 0; set lock_timeout = ${waitMs};
      select pg_advisory_lock(hashtextextended('initial resources', 0));
      reset statement_timeout; reset lock_timeout`,
    query_timeout: waitMs + answerMs,
  };
  await db.query(query).catch((error: unknown) => {
    throw isLockTimeout(error) ? new Error(waitedInVain, { cause: error }) : error;
  });
}

const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';

const waitedInVain =
  'Another process is still creating the resources of INIT_PROJECT. End it, then retry.';
