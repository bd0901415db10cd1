import pg from 'pg';
import { limits } from '../../../core/limits.ts';

export type Pool = pg.Pool;
/** A pool, or the connection of a transaction. */
export type Db = Pick<pg.Pool, 'query'>;

interface PoolOptions {
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  max?: number;
  /** Called for every lost connection; the pool replaces it. */
  onError?: (error: Error) => void;
}

/** Network devices drop silent connections, and a server may disappear without closing them. */
const keepAliveAfterMs = 30_000;
/**
 * The server cancels a statement after this time. A server that does not even report that is gone.
 */
const statementMs = 30_000;

/** For statements outside `inTransaction`, which states the level itself; see transaction.ts. */
const isolation = '-c default_transaction_isolation=read\\ committed';

const defaultMax = 10;

export function createPool(url: string, options: PoolOptions): Pool {
  const max = options.max ?? defaultMax;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: options.applicationName,
    max,
    min: Math.min(limits.postgres.idleConnections, max),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementMs,
    query_timeout: statementMs + 5_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    options: isolation,
    types: numbersForBigints(),
  });
  // A lost connection emits 'error' on its client, both idle and between two statements. Without a
  // listener either would end the process. The pool repeats the error of idle clients.
  const onError = options.onError ?? (() => undefined);
  pool.on('connect', (client) => client.on('error', (error) => onError(lostConnection(error))));
  pool.on('error', () => undefined);
  return pool;
}

/** Without the client object, which the pool attaches to its errors: it holds the password. */
function lostConnection(error: Error): Error {
  return new Error(`lost a connection to Postgres: ${error.message}`);
}

/** Sequence numbers, offsets and counts stay far below 2^53. */
function numbersForBigints(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}
