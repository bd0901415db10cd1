import { limits } from '../../../core/limits.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import type { Due } from '../../../systems/postgres/maintenance/retention-stats.ts';
import { sizeOf } from '../advice.ts';
import { type Check, checked } from '../types.ts';

/** A worker goes through the rows every hour and through the blobs every day. */
const lateMs = 2 * limits.blobGcEveryMs;
const tablesShown = 6;

export const retention: Check = {
  name: 'retention',
  needs: ['schema'],
  ifItFails: {
    code: 'retention_unknown',
    what: 'What is kept cannot be counted',
    advice: 'See what Postgres logs about it.',
  },
  async look({ retention: asked, mends, hosts }) {
    const reported = keptBy(await hosts.list());
    const kept = { ...(reported ?? usual), ...unchanging };
    const rows = await asked.rows(kept);
    const blobs = await asked.blobs(kept);
    const tables = await asked.largestTables(tablesShown);
    const said = [
      `due: ${[...rows, blobs].map(({ kind, count }) => `${count} ${kind}`).join(', ')} (${sizeOf(blobs.bytes)})`,
      `largest: ${tables
        .slice(0, tablesShown)
        .map(({ table, bytes }) => `${table} ${sizeOf(bytes)}`)
        .join(', ')}`,
    ];
    const late = [...rows, blobs].filter((due) => due.lateMs > lateMs);
    if (late.length === 0) return checked(said);
    return checked(said, {
      code: 'retention_late',
      what: `${late.map(lateness).join(', ')} should have been removed already.`,
      advice:
        'A worker removes them every hour: start one, or see its log for reconcile_step_failed.',
      ...(reported && { mend: () => mends.sweep(kept) }),
    });
  },
};

const dayMs = 24 * 3_600_000;
const usual = {
  runMs: limits.runRetentionDays * dayMs,
  sessionFilesMs: limits.sessionFileRetentionDays * dayMs,
  webhookAttemptsMs: limits.webhookAttemptRetentionDays * dayMs,
};
const unchanging = {
  tombstoneMs: limits.tombstoneTtlMs,
  unnamedBlobMs: limits.unreferencedBlobTtlMs,
};

/**
 * As the workers keep it, and where they differ the longest: what a worker would keep must not be
 * swept by a command that was not told so. Null where none has said.
 */
function keptBy(all: Host[]): typeof usual | null {
  const said = all.flatMap(({ report }) => (report === null ? [] : [report.retention]));
  if (said.length === 0) return null;
  return {
    runMs: Math.max(...said.map(({ runMs }) => runMs)),
    sessionFilesMs: Math.max(...said.map(({ sessionFilesMs }) => sessionFilesMs)),
    webhookAttemptsMs: Math.max(...said.map(({ webhookAttemptsMs }) => webhookAttemptsMs)),
  };
}

const lateness = ({ kind, count, lateMs: late }: Due): string =>
  `${count} ${kind} (for ${Math.floor(late / limits.blobGcEveryMs)} days)`;
