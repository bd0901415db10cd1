import { freePort } from '../../dev/stack/ports.ts';
import { observePostgres } from '../../test/support/counters/postgres-wire.ts';
import { openTcpTap } from '../../test/support/counters/tcp-tap.ts';

/** The counts of the API and all workers so far. */
export interface StatementCounts {
  statements: number;
  /** Includes read-only transactions, which flush nothing to the disk. */
  commits: number;
}

interface StatementCounter {
  /** The URL of Postgres for the service. */
  url: string;
  counts(): StatementCounts;
  close(): Promise<void>;
}

/** Counts the statements of a service on their way to Postgres. */
export async function countStatements(postgresUrl: string): Promise<StatementCounter> {
  const url = new URL(postgresUrl);
  const to = { host: url.hostname, port: Number(url.port || 5432) };
  const listen = { host: '127.0.0.1', port: await freePort() };
  const counts = { statements: 0, commits: 0 };
  const isOfService = (program: string): boolean => /-(?:api|worker)$/.test(program);
  const onConnection = () =>
    observePostgres({
      connected: () => undefined,
      statement: (program) => {
        if (isOfService(program)) counts.statements += 1;
      },
      transaction: (program, { committed }) => {
        if (committed && isOfService(program)) counts.commits += 1;
      },
    });
  const tap = await openTcpTap({ listen, to, onConnection });
  url.hostname = listen.host;
  url.port = String(listen.port);
  return { url: url.href, counts: () => ({ ...counts }), close: () => tap.close() };
}
