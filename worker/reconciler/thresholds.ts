import type { HostThresholds } from '../../core/hosts/host-thresholds.ts';
import { limits } from '../../core/limits.ts';
import type { ReconcilerThresholds } from './deps.ts';

const minuteMs = 60_000;

export const reconcilerThresholds = (
  everyMs: number,
  host: HostThresholds,
): ReconcilerThresholds => ({
  everyMs,
  unstartedMs: limits.workflow.startGraceMs,
  resendAfterMs: 10_000,
  resendEveryMs: minuteMs,
  // Longer than any stop with its output drain and workspace snapshot.
  stuckMs: 30 * minuteMs,
  hostLostMs: host.lostMs,
  hostWatchMs: host.staleMs,
  // A running workflow keeps its webhook, however long its attempts take.
  webhookMs: 10_000,
  overdueMs: 15 * minuteMs,
});
