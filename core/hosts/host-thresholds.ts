import { limits } from '../limits.ts';

/** What happens to a host without a heartbeat, by the time since the last one. */
export interface HostThresholds {
  /** Interval of heartbeats. */
  renewMs: number;
  /** It gets no new work. */
  staleMs: number;
  /** It pauses its sandboxes, well before other hosts take over its sessions. */
  fenceMs: number;
  /** Other hosts take over its sessions, and its started runs end. */
  lostMs: number;
}

/** All are derived from one value, so no setting lets a host continue while another takes over. */
export function hostThresholds(lostMs: number = limits.host.lostMs): HostThresholds {
  const part = lostMs / limits.host.lostMs;
  return {
    renewMs: limits.host.renewMs * part,
    staleMs: limits.host.staleMs * part,
    fenceMs: limits.host.fenceMs * part,
    lostMs,
  };
}
