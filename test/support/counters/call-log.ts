// All calls of a service to Postgres and Docker, in their order. A call is noted before it is
// forwarded, so a call that waits for another one comes after it.

import { observeDocker } from './docker-wire.ts';
import { observePostgres } from './postgres-wire.ts';
import type { ConnectionObserver } from './tcp-tap.ts';

interface PostgresCall {
  /** `api`, `worker`, or another connection's `application_name`. */
  program: string;
  atMs: number;
}

export type Call =
  | (PostgresCall & { kind: 'connection' })
  | (PostgresCall & { kind: 'statement'; name: string })
  /** The end of a transaction, with the names of its statements. */
  | (PostgresCall & { kind: 'transaction'; names: string[]; committed: boolean })
  | { kind: 'docker'; name: string; atMs: number };

export interface CallLog {
  readonly calls: readonly Call[];
  onPostgresConnection(): ConnectionObserver;
  onDockerConnection(): ConnectionObserver;
  /** Resolves when the condition holds, false after the time. It is checked after each call. */
  until(condition: () => boolean, withinMs: number): Promise<boolean>;
  /** Whether no statement and no transaction is in progress. */
  isIdle(): boolean;
}

export function createCallLog(): CallLog {
  const calls: Call[] = [];
  const connections = new Set<{ isIdle(): boolean }>();
  const checks = new Set<() => void>();

  function note(call: Call): void {
    calls.push(call);
    for (const check of checks) check();
  }

  function onPostgresConnection(): ConnectionObserver {
    const observer = observePostgres({
      connected: (name) => note({ kind: 'connection', ...from(name) }),
      statement: (program, name) => note({ kind: 'statement', ...from(program), name }),
      transaction: (program, end) => note({ kind: 'transaction', ...from(program), ...end }),
    });
    connections.add(observer);
    return { ...observer, closed: () => void connections.delete(observer) };
  }

  return {
    calls,
    onPostgresConnection,
    onDockerConnection: () =>
      observeDocker((name) => note({ kind: 'docker', name, atMs: performance.now() })),
    until: (condition, withinMs) =>
      new Promise((resolve) => {
        const settle = (holds: boolean): void => {
          clearTimeout(timer);
          checks.delete(check);
          resolve(holds);
        };
        const check = (): void => {
          if (condition()) settle(true);
        };
        const timer = setTimeout(() => settle(condition()), withinMs);
        checks.add(check);
        check();
      }),
    isIdle: () => [...connections].every((connection) => connection.isIdle()),
  };
}

/** The service's connections are called by the instance and the program. */
const from = (applicationName: string): PostgresCall => ({
  program: applicationName.replace(/^.*-(api|worker)$/, '$1'),
  atMs: performance.now(),
});
