// A database belongs to one Temporal: only that one has the workflows of its runs. In another one
// every workflow is missing, so a process that is connected to it would end all runs. Before its
// first request, and again after each outage, a process compares the identity of the server with
// the one that the database stores. While the identity cannot be read, no request is made.

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import {
  describeTemporal,
  isSameTemporal,
  type TemporalIdentity,
} from '../../core/temporal/temporal-identity.ts';
import { singleFlight } from '../../lib/async/single-flight.ts';

/** The identity that the database stores, and what happens if the server has another one. */
export interface StoredIdentity {
  /** Stores the identity if none is stored, and returns the stored one. */
  remember(found: TemporalIdentity): Promise<TemporalIdentity>;
  /** Called with a hint that says what to do. */
  onMismatch(hint: string): void;
}

export interface IdentityGuard {
  /** Reads the identity of the server again. Rejects if it cannot be read or differs. */
  check(): Promise<void>;
  /** The same, and reads the stored identity again, because an operator may have changed it. */
  verify(): Promise<void>;
  /** Whether a check has succeeded since the start of this process. */
  wasVerified(): boolean;
  /** False from a request that failed because of an outage until a check succeeds. */
  isReachable(): boolean;
  /** Makes a request, after the identity was checked. */
  run<T>(request: () => Promise<T>): Promise<T>;
}

export function createIdentityGuard(
  read: () => Promise<TemporalIdentity>,
  stored: StoredIdentity,
): IdentityGuard {
  let remembered: TemporalIdentity | null = null;
  let isCurrent = false;
  let wasVerified = false;

  async function check(): Promise<void> {
    try {
      const found = await read();
      remembered ??= await stored.remember(found);
      if (!isSameTemporal(remembered, found)) throw rejectOther(remembered, found, stored);
      isCurrent = true;
      wasVerified = true;
    } catch (error) {
      isCurrent = false;
      throw error;
    }
  }
  const checkOnce = singleFlight(check);

  return {
    check,
    verify() {
      remembered = null;
      return check();
    },
    wasVerified: () => wasVerified,
    isReachable: () => isCurrent,
    async run(request) {
      if (!isCurrent) await checkOnce();
      try {
        return await request();
      } catch (error) {
        if (isOutage(error)) isCurrent = false;
        throw error;
      }
    },
  };
}

function rejectOther(
  remembered: TemporalIdentity,
  found: TemporalIdentity,
  { onMismatch }: StoredIdentity,
): Error {
  const hint =
    `This database belongs to ${describeTemporal(remembered)}, but TEMPORAL_ADDRESS and ` +
    `TEMPORAL_NAMESPACE point to ${describeTemporal(found)}: correct them, or, if Temporal was ` +
    'replaced, run `flowrun temporal adopt --confirm` and start the service again.';
  onMismatch(hint);
  return new Error(hint);
}

/** gRPC's status codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const outages = new Set<number>([4, 14]);

function isOutage(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && outages.has(cause.code);
}
