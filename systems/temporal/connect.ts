import {
  Client,
  Connection,
  type ConnectionOptions,
  type OperatorService,
} from '@temporalio/client';
import { remainingMs } from '../../lib/async/run-until.ts';

export interface TemporalAddress {
  namespace: string;
  /** Address, TLS, key and headers, in the shape that the SDK's connections take. */
  connection: ConnectionOptions;
}

interface TemporalConnection {
  client: Client;
  operator: OperatorService;
  /** Fails if Temporal does not answer in time, or before the work that calls it has to end. */
  withDeadline<T>(call: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const requestTimeoutMs = 5_000;

/**
 * Connects at the first request and reconnects after an outage, so a process starts without
 * Temporal.
 */
export function connectTemporal({
  namespace,
  connection: options,
}: TemporalAddress): TemporalConnection {
  const connection = Connection.lazy({ connectTimeout: requestTimeoutMs, ...options });
  const open = new Set<Promise<unknown>>();
  return {
    client: new Client({ connection, namespace }),
    operator: connection.operatorService,
    withDeadline(call) {
      const request = connection.withDeadline(
        Date.now() + Math.min(requestTimeoutMs, remainingMs()),
        call,
      );
      open.add(request);
      return request.finally(() => open.delete(request));
    },
    async close() {
      // The library retries a request by a timer, which throws if the connection is closed.
      await Promise.allSettled(open);
      await connection.close();
    },
  };
}
