import { limits } from '../../../core/limits.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import type { Overdue } from '../../../systems/postgres/maintenance/retention-stats.ts';
import { sizeOf } from '../advice.ts';
import { type Check, checked } from '../types.ts';

/** Workers purge rows and blobs every hour. */
const lateMs = 48 * limits.retention.everyMs;
const tablesShown = 6;

export const retentionCheck: Check = {
  name: 'retention',
  needs: ['schema'],
  onError: {
    code: 'retention_unknown',
    message: 'The retained data cannot be counted',
    advice: 'Check the log of Postgres.',
  },
  async run({ retention, fixes, hosts }) {
    const reported = longestRetention(await hosts.list());
    const times = { ...(reported ?? defaults), ...fixedTimes };
    const rows = await retention.rows(times);
    const blobs = await retention.blobs(times);
    const tables = await retention.largestTables(tablesShown);
    const facts = [
      `due: ${[...rows, blobs].map(({ kind, count }) => `${count} ${kind}`).join(', ')} (${sizeOf(blobs.bytes)})`,
      `largest: ${tables
        .slice(0, tablesShown)
        .map(({ table, bytes }) => `${table} ${sizeOf(bytes)}`)
        .join(', ')}`,
    ];
    const late = [...rows, blobs].filter((due) => due.lateMs > lateMs);
    if (late.length === 0) return checked(facts);
    return checked(facts, {
      code: 'retention_late',
      message: `${late.map(lateness).join(', ')} overdue for removal.`,
      advice:
        'A worker removes them every hour: start one, or check its log for reconcile_step_failed.',
      ...(reported && { fix: () => fixes.applyRetention(times) }),
    });
  },
};

const dayMs = 24 * 3_600_000;
const defaults = {
  runMs: limits.retention.runDays * dayMs,
  sessionFilesMs: limits.retention.sessionFileDays * dayMs,
  webhookAttemptsMs: limits.retention.webhookAttemptDays * dayMs,
};
const fixedTimes = {
  modelCallsMs: modelLimits.ledgerRetentionMs,
  tombstoneMs: limits.retention.tombstoneTtlMs,
  unreferencedBlobMs: limits.blob.unreferencedTtlMs,
};

/**
 * The longest retention that any worker reports: `--fix` must not remove data that a worker would
 * keep. Null if no worker has reported.
 */
function longestRetention(all: Host[]): typeof defaults | null {
  const reported = all.flatMap(({ report }) => (report === null ? [] : [report.retention]));
  if (reported.length === 0) return null;
  return {
    runMs: Math.max(...reported.map(({ runMs }) => runMs)),
    sessionFilesMs: Math.max(...reported.map(({ sessionFilesMs }) => sessionFilesMs)),
    webhookAttemptsMs: Math.max(...reported.map(({ webhookAttemptsMs }) => webhookAttemptsMs)),
  };
}

const lateness = ({ kind, count, lateMs: late }: Overdue): string =>
  `${count} ${kind} (for ${Math.floor(late / dayMs)} days)`;
