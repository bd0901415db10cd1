// A database belongs to one Temporal: only that one has the workflows of its runs. In another one every
// workflow is missing, so a process that is connected to it would end all runs. Before its first request,
// and again after each outage, a process compares the identity of the server with the one that the
// database remembers. While the identity cannot be read, no request is made.

import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import {
  describeTemporal,
  isSameTemporal,
  type TemporalIdentity,
} from '../../core/temporal/temporal-identity.ts';
import { singleFlight } from '../../lib/async/single-flight.ts';

/** What the database knows of its Temporal, and what happens if the server is another one. */
export interface KnownTemporal {
  /** Stores the identity if none is stored, and returns the stored one. */
  remember(found: TemporalIdentity): Promise<TemporalIdentity>;
  /** Called with the sentence that says what to do. */
  onOther(sentence: string): void;
}

export interface IdentityGuard {
  /** Reads the identity of the server again. Rejects if it cannot be read, or is another one. */
  check(): Promise<void>;
  /** The same, and reads the one that the database remembers again: an operator may have changed it. */
  verify(): Promise<void>;
  /** Whether the identity was ever read and the same. */
  wasVerified(): boolean;
  /** Makes a request, after the identity was checked. */
  run<T>(request: () => Promise<T>): Promise<T>;
}

export function createIdentityGuard(
  read: () => Promise<TemporalIdentity>,
  known: KnownTemporal,
): IdentityGuard {
  let remembered: TemporalIdentity | null = null;
  let isCurrent = false;
  let wasVerified = false;

  async function check(): Promise<void> {
    try {
      const found = await read();
      remembered ??= await known.remember(found);
      if (!isSameTemporal(remembered, found)) throw rejectOther(remembered, found, known);
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
  { onOther }: KnownTemporal,
): Error {
  const sentence =
    `This database belongs to ${describeTemporal(remembered)}, but TEMPORAL_ADDRESS and ` +
    `TEMPORAL_NAMESPACE lead to ${describeTemporal(found)}: correct them, or, if Temporal was ` +
    'replaced, run `flowrun temporal adopt --confirm` and start the service again.';
  onOther(sentence);
  return new Error(sentence);
}

/** gRPC's status codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const outages = new Set<number>([4, 14]);

function isOutage(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && outages.has(cause.code);
}
