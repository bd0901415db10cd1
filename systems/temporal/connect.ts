import {
  Client,
  Connection,
  type ConnectionOptions,
  type OperatorService,
} from '@temporalio/client';

export interface TemporalAddress {
  namespace: string;
  /** Address, TLS, key and headers, in the shape that the SDK's connections take. */
  connection: ConnectionOptions;
}

export interface TemporalConnection {
  client: Client;
  operator: OperatorService;
  /** Fails when Temporal has not answered within the deadline. */
  withDeadline<T>(call: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const askTimeoutMs = 5_000;

/** Connects with the first question, and again whenever Temporal was away: a start never waits. */
export function connectTemporal({
  namespace,
  connection: options,
}: TemporalAddress): TemporalConnection {
  const connection = Connection.lazy({ connectTimeout: askTimeoutMs, ...options });
  return {
    client: new Client({ connection, namespace }),
    operator: connection.operatorService,
    withDeadline: (call) => connection.withDeadline(Date.now() + askTimeoutMs, call),
    close: () => connection.close(),
  };
}
