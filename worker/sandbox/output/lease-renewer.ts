// Renews the leases of all sandboxes of a host by one statement at each interval, so that idle
// sandboxes add no statements. Every lease has its own answer: a lost one releases its sandbox and
// no other. A statement that fails loses no lease, because it says nothing about any of them.
//
// A lease whose log is being written is renewed alone. The renewal occupies a connection of the
// leases' pool while it waits, so only one runs at a time, and the other connections stay free.

import type { Logger } from 'pino';
import { limits } from '../../../core/limits.ts';
import { createSemaphore } from '../../../lib/async/semaphore.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { LeaseRenewal, LogLease } from '../../../systems/postgres/log/lease.ts';

export interface LeaseRenewer {
  /** The lease is renewed until the returned function is called. */
  add(lease: RenewableLease): () => void;
}

interface RenewableLease extends LogLease {
  onRenewal(renewal: LeaseRenewal): void;
  /** Renews it alone, and waits while another transaction writes the log. Never rejects. */
  renewAlone(): Promise<unknown>;
}

interface RenewerDeps {
  frames: Pick<FrameStore, 'renewLeases'>;
  times: { leaseMs: number };
  logger: Logger;
}

const renewalsPerLease = limits.log.leaseRenewals;

export function createLeaseRenewer(deps: RenewerDeps): LeaseRenewer {
  const { frames, logger } = deps;
  const leases = new Set<RenewableLease>();
  /** Those that are renewed alone, or wait for it. */
  const alone = new Set<RenewableLease>();
  const oneAlone = createSemaphore(1);
  let timer: NodeJS.Timeout | null = null;
  /** A renewal that hangs does not block the next one. At most three are pending. */
  let pendingRenewals = 0;

  async function renewAll(): Promise<void> {
    if (pendingRenewals >= renewalsPerLease) return;
    pendingRenewals += 1;
    const batch = [...leases];
    try {
      const refs = batch.map(({ runId, token }) => ({ runId, token }));
      const renewals = await frames.renewLeases(refs, deps.times.leaseMs);
      for (const [index, lease] of batch.entries()) {
        const renewal = renewals[index] ?? 'busy';
        if (renewal === 'busy') void renewAlone(lease);
        else lease.onRenewal(renewal);
      }
    } catch (err) {
      logger.warn({ err, leases: batch.length }, 'lease_renewal_failed');
    } finally {
      pendingRenewals -= 1;
    }
  }

  async function renewAlone(lease: RenewableLease): Promise<void> {
    if (alone.has(lease)) return;
    alone.add(lease);
    try {
      await oneAlone.run(lease.renewAlone);
    } finally {
      alone.delete(lease);
    }
  }

  return {
    add(lease) {
      leases.add(lease);
      timer ??= setInterval(() => void renewAll(), deps.times.leaseMs / renewalsPerLease);
      return () => {
        leases.delete(lease);
        if (leases.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}
