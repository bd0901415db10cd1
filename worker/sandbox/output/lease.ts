import type { Logger } from 'pino';
import { type AgentState, initialAgentState } from '../../../core/agent/agent-state.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { LeaseRenewal } from '../../../systems/postgres/log/lease.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import type { LeaseRenewer } from './lease-renewer.ts';

/**
 * The right to write a run's log. Every write carries the token, so the renewals are not needed
 * for safety. They detect early that another host has taken over, and show others that this host is
 * alive.
 */
export interface RenewedLease {
  token: number;
  /** The end of the log when the lease was taken. */
  position: { generation: number; byteOffset: number; lastSeq: number; agentState: AgentState };
  /** Renews the lease. False if another host has it. A renewal that fails counts as true. */
  confirm(): Promise<boolean>;
  /** Calls at each renewal that finds the storage quota of the project used up. */
  onOverQuota(listener: () => void): void;
  release(): void;
}

interface LeaseDeps {
  frames: Pick<FrameStore, 'takeLease' | 'renewLease'>;
  leaseRenewer: LeaseRenewer;
  /** The host's ID: a restarted process takes over from its predecessor at once. */
  owner: string;
  leaseMs: number;
  /** Each line names the run. */
  logger: Logger;
}

/** The lease with the position of this generation. Null if a later sandbox of the run exists. */
export async function takeSandboxLease(
  { frames, leaseRenewer, hostId: owner, times }: SandboxDeps,
  { ref: { runId, generation }, logger }: { ref: SandboxRef; logger: Logger },
  onLost: () => void,
): Promise<RenewedLease | null> {
  const { leaseMs } = times;
  const lease = await takeLease({ frames, leaseRenewer, owner, leaseMs, logger }, runId, onLost);
  if (lease === null || lease.position.generation === generation) return lease;
  if (!(await beginGeneration(frames, lease, { runId, generation }))) {
    lease.release();
    return null;
  }
  const position = { ...lease.position, generation, byteOffset: 0, agentState: initialAgentState };
  return { ...lease, position };
}

/** If the database cannot answer, the lease is released, and the next attempt takes it again. */
async function beginGeneration(
  frames: SandboxDeps['frames'],
  lease: RenewedLease,
  { runId, generation }: SandboxRef,
): Promise<boolean> {
  if (lease.position.generation > generation) return false;
  try {
    return await frames.beginGeneration(runId, lease.token, generation);
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Null if another host has it, or the run has ended. */
export async function takeLease(
  { frames, leaseRenewer, owner, leaseMs, logger }: LeaseDeps,
  runId: string,
  onLost: () => void,
): Promise<RenewedLease | null> {
  const taken = await frames.takeLease(runId, owner, leaseMs);
  if (taken === null) return null;
  const { token, ...position } = taken;
  let isHeld = true;
  let overQuota = (): void => undefined;

  async function confirm(): Promise<boolean> {
    if (!isHeld) return false;
    const renewal = await frames.renewLease(runId, token, leaseMs).catch((error: unknown) => {
      logger.warn({ err: error }, 'lease_renewal_failed');
      return 'renewed' as const;
    });
    return accept(renewal);
  }

  function accept(renewal: LeaseRenewal): boolean {
    if (renewal === 'over_quota' && isHeld) overQuota();
    const isRenewed = renewal !== 'lost';
    if (isRenewed || !isHeld) return isRenewed;
    release();
    onLost();
    return false;
  }

  const stopRenewing = leaseRenewer.add({
    ...{ runId, token },
    onRenewal: accept,
    renewAlone: confirm,
  });
  function release(): void {
    isHeld = false;
    stopRenewing();
  }

  const onOverQuota = (listener: () => void): void => {
    overQuota = listener;
  };
  return { token, position, confirm, onOverQuota, release };
}
