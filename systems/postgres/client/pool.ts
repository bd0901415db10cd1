import pg from 'pg';

export type Pool = pg.Pool;
/** What a statement needs: a pool, or the one connection of a transaction. */
export type Db = Pick<pg.Pool, 'query'>;

interface PoolOptions {
  /** Shown by Postgres beside each connection. */
  applicationName: string;
  max?: number;
  /** Told of every connection that was lost; nothing else needs to be done about it. */
  onError?: (error: Error) => void;
}

/** So many stay open when nobody needs them: to open one takes longer than most of what is asked. */
const keptOpen = 4;
/** What lies between may forget a connection that is silent, and a server may be gone without a word. */
const askedAfterMs = 30_000;
/** After so long the server gives a statement up; a server that does not even say so is gone. */
const statementMs = 30_000;

export function createPool(url: string, options: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    min: keptOpen,
    keepAlive: true,
    keepAliveInitialDelayMillis: askedAfterMs,
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementMs,
    query_timeout: statementMs + 5_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    types: numbersForBigints(),
  });
  // A connection that dies emits 'error' on itself, whether it is idle, or held and between two
  // statements; unheard, either would end the process. The pool repeats what an idle one said.
  const onError = options.onError ?? (() => undefined);
  pool.on('connect', (client) => client.on('error', (error) => onError(lostConnection(error))));
  pool.on('error', () => undefined);
  return pool;
}

/** Without the connection, which the pool hangs on its errors: that one holds the password. */
function lostConnection(error: Error): Error {
  return new Error(`lost a connection to Postgres: ${error.message}`);
}

/** Sequence numbers, offsets and counts stay far below 2^53. */
function numbersForBigints(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  return types;
}
