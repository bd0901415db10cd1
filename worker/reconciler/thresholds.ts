import type { HostThresholds } from '../../core/hosts/host-thresholds.ts';
import { limits } from '../../core/limits.ts';
import type { ReconcilerThresholds } from './deps.ts';

const minuteMs = 60_000;

export const reconcilerThresholds = (
  everyMs: number,
  host: HostThresholds,
): ReconcilerThresholds => ({
  everyMs,
  unstartedMs: limits.workflowStartGraceMs,
  resendAfterMs: 10_000,
  resendEveryMs: minuteMs,
  // Beyond the longest way from a cause to its end: stop, last output, workspace.
  stuckMs: 30 * minuteMs,
  hostLostMs: host.lostMs,
  hostWatchMs: host.staleMs,
  // A workflow that is at work is left to it, however long its attempts take.
  webhookMs: 10_000,
  overdueMs: 15 * minuteMs,
});
