// The connections of a worker. Heartbeat and leases have pools that nothing else uses: uploads and
// slow statements may occupy every other connection, and a host whose heartbeat is late is fenced
// and then declared lost. The two are separate because a renewal of a lease may wait for the row of
// its log.

import { limits } from '../../../core/limits.ts';
import { createPool, type Pool } from './pool.ts';

interface WorkerPoolsOptions {
  applicationName: string;
  /** The maximum of all pools together. */
  connections: number;
  onError: (error: Error) => void;
}

export function openWorkerPools(
  url: string,
  { connections, applicationName, onError }: WorkerPoolsOptions,
) {
  const reserved = limits.postgres.reservedByWorker;
  const open = (max: number): Pool => createPool(url, { applicationName, max, onError });
  const pools = {
    /** For everything else. */
    pool: open(connections - reserved),
    heartbeatPool: open(reserved / 2),
    leasePool: open(reserved / 2),
  };
  const all = Object.values(pools);
  return {
    ...pools,
    all,
    async end(): Promise<void> {
      await Promise.all(all.map((pool) => pool.end()));
    },
  };
}
