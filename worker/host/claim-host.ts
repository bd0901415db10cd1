// A host's ID is stored in its data folder. The folder's lock excludes a second worker on the same
// machine. It does not exclude a worker with a copy of the folder, for example on a cloned machine,
// which has the same ID. So each worker also holds a lease in Postgres. Its owner is the machine
// and the folder: a worker that restarts, even after it was killed, owns the lease already and
// takes the ID over at once. Another owner watches the lease. If the lease is renewed, the other
// worker is alive, and this one must not start. If it is not renewed during two heartbeat
// intervals, the other worker is gone.

import type { Logger } from 'pino';
import { sleep } from '../../lib/async/sleep.ts';
import type { HostLease, HostLeaseStore } from '../../systems/postgres/hosts/host-lease-store.ts';

interface HostClaim {
  leases: Pick<HostLeaseStore, 'claim'>;
  lease: HostLease;
  leaseMs: number;
  /** How long another worker's lease must remain unchanged, while Postgres can be reached. */
  watchMs: number;
  logger: Logger;
}

const pollMs = 500;

/**
 * Retries while Postgres is unavailable. `aborted`: the signal was aborted before the claim was
 * decided.
 */
export async function claimHost(
  { leases, lease, leaseMs, watchMs, logger }: HostClaim,
  signal: AbortSignal,
): Promise<'claimed' | 'taken' | 'aborted'> {
  const from = performance.now();
  let watched: { renewals: number; sinceMs: number } | null = null;
  while (!signal.aborted) {
    try {
      const hasWatchedLongEnough =
        watched !== null && performance.now() - watched.sinceMs >= watchMs;
      const unchanged = hasWatchedLongEnough && watched !== null ? watched.renewals : null;
      const other = await leases.claim({ ...lease, leaseMs, unchanged });
      if (other === null) {
        const waitedMs = Math.round(performance.now() - from);
        logger.info({ hostId: lease.hostId, waitedMs }, 'host_claimed');
        return 'claimed';
      }
      if (watched !== null && other.renewals > watched.renewals) return 'taken';
      watched ??= { renewals: other.renewals, sinceMs: performance.now() };
    } catch (err) {
      logger.warn({ err }, 'dependency_unavailable');
      watched = null; // the other worker could not renew its lease either
    }
    await sleep(pollMs, signal);
  }
  return 'aborted';
}

export const hostIdTakenHint = (dataDir: string): string =>
  `Another worker uses the host ID that is stored in DATA_DIR (${dataDir}): if the folder was copied ` +
  'from another host, start this worker with an empty DATA_DIR.';

/**
 * Exits at once, so that this worker does not interfere with the other one. Sandboxes keep running.
 */
export function exitHostIdTaken(dataDir: string, logger: Logger): never {
  logger.fatal({ hint: hostIdTakenHint(dataDir) }, 'host_id_taken');
  process.exit(1);
}
