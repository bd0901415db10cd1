// Admission and placement (migrations/…_admission.sql): one function in Postgres, one round trip, one
// transaction. It takes the project's row first, then the placement lock; so the caps, the quota, the
// idempotency window and the places of the hosts are each decided by one caller at a time.

import { limits } from '../../../core/limits.ts';
import type { Labels, Run, TriggerType } from '../../../core/runs/run.ts';
import { nonEmptyFields, type RunConfig } from '../../../core/runs/run-config.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inRehearsal, inTransaction } from '../client/transaction.ts';
import { FilesRefused, orRefusal } from '../files/files-refused.ts';
import { type FilesToGive, type GiveRefusal, giveFiles, planChange } from '../files/input-files.ts';
import { type RunRow, runColumns, toRun } from '../runs/run-row.ts';
import { idleInTheWay } from './evictable-session.ts';
import { sealConfig, sealContext } from './run-config-store.ts';
import type { Sealer } from './seal.ts';

export interface AdmitRun {
  runId: string;
  flowId: string;
  projectId: string;
  triggerType: TriggerType;
  /** Null where no API key asked for the run. */
  keyId: string | null;
  keyName: string;
  keyCreatedBy: string;
  /** Null where no request did. */
  requestId: string | null;
  prompt: string;
  name: string | null;
  labels: Labels;
  partialMessages: boolean;
  callbackUrl: string | null;
  idempotencyKey: string | null;
  timeoutSeconds: number;
  /** Null, here and in the two below: what the flow says. */
  model: string | null;
  maxTurns: number | null;
  maxBudgetUsd: number | null;
  /** JSON text. */
  outputSchema: string | null;
  /** The run that this one repeats. */
  retryOf: string | null;
  config: RunConfig;
}

export type RefusalReason =
  | 'RUNNER_OFFLINE'
  | 'CONCURRENT_LIMIT'
  | 'MONTHLY_QUOTA'
  /** It may repeat a run that a restoration has lost: that is not found out yet. */
  | 'UPSTREAM_UNAVAILABLE';

export interface Refusal {
  outcome: 'refused';
  reason: RefusalReason;
  /** Both are there where it is one of these that is reached. */
  limit?: number;
  current?: number;
}

export type Admission =
  | { outcome: 'admitted'; run: Run }
  /** The run that the idempotency key names, as it is now; `deletedAt` is set if it was deleted. */
  | { outcome: 'replay'; run: Run }
  | Refusal;

export type AdmissionStore = ReturnType<typeof createAdmission>;

export function createAdmission(
  pool: Pool,
  sealer: Sealer,
  hostUnseenMs: number = limits.hostStaleMs,
) {
  const terms = { sealer, hostUnseenMs };
  return {
    /** Throws where the project or the flow does not exist. */
    admitRun: (input: AdmitRun): Promise<Admission> => admitRun(pool, terms, input),
    /** What the next would answer; changes nothing, so that only what will be admitted is stored. */
    rehearseWithFiles: (input: AdmitRun, given: FilesToGive): Promise<Admission | GiveRefusal> =>
      rehearseWithFiles(pool, terms, { input, given }),
    /** The run and its files, or neither. */
    admitWithFiles: (input: AdmitRun, given: FilesToGive): Promise<Admission | GiveRefusal> =>
      admitWithFiles(pool, terms, { input, given }),
    /** A host for a run that was admitted without one; the one it has already, if any. */
    claimPlace: (runId: string) => claimPlace(pool, runId, hostUnseenMs),
    /** The idle session whose place one that waits may have. */
    idleInTheWay: (runId: string) => idleInTheWay(pool, { runId, hostUnseenMs }),
  };
}

interface ClaimedPlace {
  hostId: string;
  /** Of the request that asked for the run. */
  requestId: string | null;
}

interface Terms {
  sealer: Sealer;
  /** A host that was silent for longer gets nothing new. */
  hostUnseenMs: number;
}

type AdmissionRow =
  | ({ outcome: 'admitted' | 'replay' } & RunRow)
  | { outcome: 'refused'; reason: RefusalReason; limit: number | null; current: number | null };

async function admitRun(db: Db, terms: Terms, input: AdmitRun): Promise<Admission> {
  const { sealer, hostUnseenMs } = terms;
  const { rows } = await db.query<AdmissionRow>(admitStatement, [
    input.runId,
    input.flowId,
    input.projectId,
    input.triggerType,
    input.name,
    JSON.stringify(input.labels),
    input.prompt,
    input.partialMessages,
    input.callbackUrl,
    input.keyId,
    input.keyName,
    input.keyCreatedBy,
    Object.keys(input.config.mcpServers),
    input.config.mcpMode === 'merge',
    input.timeoutSeconds,
    input.model,
    input.maxTurns,
    input.maxBudgetUsd,
    input.outputSchema,
    input.retryOf,
    nonEmptyFields(input.config),
    sealContext(sealer, input.runId, input.config.context),
    input.idempotencyKey,
    sealConfig(sealer, input.runId, input.config),
    `${limits.idempotencyWindowMs} ms`,
    `${hostUnseenMs} ms`,
    input.requestId,
  ]);
  const row = rows[0];
  if (!row) throw new Error('admission gave no answer');
  return row.outcome === 'refused' ? refusal(row) : { outcome: row.outcome, run: toRun(row) };
}

/** A replay keeps the files that its original brought, and a refused run brings none. */
function admitWithFiles(
  pool: Pool,
  terms: Terms,
  { input, given }: { input: AdmitRun; given: FilesToGive },
): Promise<Admission | GiveRefusal> {
  const admitted = inTransaction(pool, async (db) => {
    const admission = await admitRun(db, terms, input);
    if (admission.outcome !== 'admitted') return admission;
    const outcome = await giveFiles(db, admission.run, given);
    if (outcome.outcome !== 'given') throw new FilesRefused(outcome);
    return admission;
  });
  return orRefusal(admitted);
}

/** What is wrong with a request is said before what stands in its way for now. */
function rehearseWithFiles(
  pool: Pool,
  terms: Terms,
  { input, given }: { input: AdmitRun; given: FilesToGive },
): Promise<Admission | GiveRefusal> {
  return inRehearsal(pool, async (db) => {
    const admission = await admitRun(db, terms, input);
    if (admission.outcome === 'replay') return admission;
    const plan = await planChange(db, input.flowId, given);
    return plan.outcome === 'fits' ? admission : plan;
  });
}

const admitStatement = `
  select a.outcome, a.reason, a.limit, a.current, a.last_seq, ${runColumns}
  from admit_run(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25, $26, $27
  ) a
  cross join lateral (select (a.run).*) r`;

function refusal(row: AdmissionRow & { outcome: 'refused' }): Refusal {
  const { reason, limit, current } = row;
  if (limit === null || current === null) return { outcome: 'refused', reason };
  return { outcome: 'refused', reason, limit, current };
}

async function claimPlace(
  pool: Pool,
  runId: string,
  hostUnseenMs: number,
): Promise<ClaimedPlace | null> {
  const { rows } = await pool.query<ClaimedPlace>(
    `select claimed.host_id as "hostId", r.request_id as "requestId"
     from claim_place($1, $2) claimed(host_id), runs r
     where r.id = $1 and claimed.host_id is not null`,
    [runId, `${hostUnseenMs} ms`],
  );
  return rows[0] ?? null;
}
