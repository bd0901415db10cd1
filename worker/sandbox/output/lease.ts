import type { Logger } from 'pino';
import { type AgentState, initialAgentState } from '../../../core/agent/agent-state.ts';
import { limits } from '../../../core/limits.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';

/**
 * The right to write a run's log. Every write carries the token, so the renewal timer is not needed
 * for safety. It detects early that another host has taken over, and shows others that this host is
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
  /** The host's ID: a restarted process takes over from its predecessor at once. */
  owner: string;
  leaseMs: number;
  /** Each line names the run. */
  logger: Logger;
}

const renewalsPerLease = limits.log.leaseRenewals;

/** The lease with the position of this generation. Null if a later sandbox of the run exists. */
export async function takeSandboxLease(
  { frames, hostId, times }: SandboxDeps,
  { ref: { runId, generation }, logger }: { ref: SandboxRef; logger: Logger },
  onLost: () => void,
): Promise<RenewedLease | null> {
  const { leaseMs } = times;
  const lease = await takeLease({ frames, owner: hostId, leaseMs, logger }, runId, onLost);
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
  { frames, owner, leaseMs, logger }: LeaseDeps,
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
    if (renewal === 'over_quota' && isHeld) overQuota();
    const isRenewed = renewal !== 'lost';
    if (isRenewed || !isHeld) return isRenewed;
    stop();
    onLost();
    return false;
  }

  function stop(): void {
    isHeld = false;
    clearInterval(timer);
  }

  /** A renewal that hangs does not block the next one. At most three are pending. */
  let pendingRenewals = 0;
  async function renew(): Promise<void> {
    if (pendingRenewals >= renewalsPerLease) return;
    pendingRenewals += 1;
    await confirm();
    pendingRenewals -= 1;
  }

  const timer = setInterval(() => void renew(), leaseMs / renewalsPerLease);
  const onOverQuota = (listener: () => void): void => {
    overQuota = listener;
  };
  return { token, position, confirm, onOverQuota, release: stop };
}
