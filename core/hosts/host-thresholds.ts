import { limits } from '../limits.ts';

/** What becomes of a host that says nothing more, by how long it has been silent. */
export interface HostThresholds {
  /** How often it says that it is there. */
  renewMs: number;
  /** Nothing new is placed on it. */
  staleMs: number;
  /** It holds its own sandboxes still, */
  fenceMs: number;
  /** well before others take over what it had. */
  lostMs: number;
}

/** All from one, so that no setting can make a host go on beside the one that follows it. */
export function hostThresholds(lostMs: number = limits.hostLostMs): HostThresholds {
  const part = lostMs / limits.hostLostMs;
  return {
    renewMs: limits.hostRenewMs * part,
    staleMs: limits.hostStaleMs * part,
    fenceMs: limits.hostFenceMs * part,
    lostMs,
  };
}
