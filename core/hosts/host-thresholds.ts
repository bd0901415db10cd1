import { limits } from '../limits.ts';

/** What happens to a host without a heartbeat, by the time since the last one. */
export interface HostThresholds {
  /** Interval of heartbeats. */
  renewMs: number;
  /** It gets no new work. */
  staleMs: number;
  /** It pauses its sandboxes, */
  fenceMs: number;
  /** well before other hosts take over its sessions. */
  lostMs: number;
}

/** All derived from one value: no setting can let a host continue while another takes over. */
export function hostThresholds(lostMs: number = limits.host.lostMs): HostThresholds {
  const part = lostMs / limits.host.lostMs;
  return {
    renewMs: limits.host.renewMs * part,
    staleMs: limits.host.staleMs * part,
    fenceMs: limits.host.fenceMs * part,
    lostMs,
  };
}
