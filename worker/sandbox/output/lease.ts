import type { Logger } from 'pino';
import type { AgentState } from '../../../core/agent/agent-state.ts';
import type { FrameStore } from '../../../systems/postgres/log/frame-store.ts';

/**
 * The right to write a run's log, kept by renewal. Every write carries the token, so the timer here
 * decides nothing: it only tells early that another has taken over, and keeps others from thinking
 * that this host is gone.
 */
export interface HeldLease {
  token: number;
  /** Where the log had got to when the lease was taken. */
  position: { generation: number; byteOffset: number; lastSeq: number; agentState: AgentState };
  /** False once another is known to have it. Asks, but takes no answer for a yes. */
  confirm(): Promise<boolean>;
  release(): void;
}

export interface LeaseDeps {
  frames: Pick<FrameStore, 'takeLease' | 'renewLease'>;
  /** The host: a restarted process takes over from its own former life at once. */
  owner: string;
  leaseMs: number;
  /** What it says leads to the run. */
  logger: Logger;
}

const renewalsPerLease = 3;

/** Null: another host has it, or the run has ended. */
export async function takeLease(
  { frames, owner, leaseMs, logger }: LeaseDeps,
  runId: string,
  onLost: () => void,
): Promise<HeldLease | null> {
  const taken = await frames.takeLease(runId, owner, leaseMs);
  if (taken === null) return null;
  const { token, ...position } = taken;
  let isHeld = true;

  async function confirm(): Promise<boolean> {
    if (!isHeld) return false;
    const kept = await frames.renewLease(runId, token, leaseMs).catch((error: unknown) => {
      logger.warn({ err: error }, 'lease_renewal_failed');
      return true;
    });
    if (kept || !isHeld) return kept;
    letGo();
    onLost();
    return false;
  }

  function letGo(): void {
    isHeld = false;
    clearInterval(timer);
  }

  /** One that hangs keeps no other from trying, and is given up when the lease would be over. */
  let pendingRenewals = 0;
  async function renew(): Promise<void> {
    if (pendingRenewals >= renewalsPerLease) return;
    pendingRenewals += 1;
    await confirm();
    pendingRenewals -= 1;
  }

  const timer = setInterval(() => void renew(), leaseMs / renewalsPerLease);
  return { token, position, confirm, release: letGo };
}
