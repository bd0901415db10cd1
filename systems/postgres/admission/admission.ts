// Admission and placement (migrations/…_admission.sql): one function in Postgres, one round trip, one
// transaction. It takes the project's row first, then the placement lock; so the caps, the quota, the
// idempotency window and the places of the hosts are each decided by one caller at a time.

import { limits } from '../../../core/limits.ts';
import type { Labels, Run, TriggerType } from '../../../core/runs/run.ts';
import { nonEmptyFields, type RunConfig } from '../../../core/runs/run-config.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inDryRun, inTransaction } from '../client/transaction.ts';
import {
  addInputFiles,
  type FileConflict,
  FileConflictError,
  type InputFiles,
  orConflict,
  planFlowUpdate,
} from '../files/input-files.ts';
import { type RunRow, runColumns, toRun } from '../runs/run-row.ts';
import { findEvictableSession } from './evictable-session.ts';
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

type RejectionReason =
  | 'RUNNER_OFFLINE'
  | 'CONCURRENT_LIMIT'
  | 'MONTHLY_QUOTA'
  /** It may repeat a run that a restoration has lost: that is not found out yet. */
  | 'UPSTREAM_UNAVAILABLE';

export interface AdmissionRejection {
  outcome: 'rejected';
  reason: RejectionReason;
  /** Both are there where it is one of these that is reached. */
  limit?: number;
  current?: number;
}

export type Admission =
  | { outcome: 'admitted'; run: Run }
  /** The run that the idempotency key names, as it is now; `deletedAt` is set if it was deleted. */
  | { outcome: 'replay'; run: Run }
  | AdmissionRejection;

export type AdmissionStore = ReturnType<typeof createAdmission>;

export function createAdmission(
  pool: Pool,
  sealer: Sealer,
  hostStaleMs: number = limits.hostStaleMs,
) {
  const terms = { sealer, hostStaleMs };
  return {
    /** Throws where the project or the flow does not exist. */
    admitRun: (input: AdmitRun): Promise<Admission> => admitRun(pool, terms, input),
    /** What the next would answer; changes nothing, so that only what will be admitted is stored. */
    dryRunWithFiles: (input: AdmitRun, given: InputFiles): Promise<Admission | FileConflict> =>
      rehearseWithFiles(pool, terms, { input, given }),
    /** The run and its files, or neither. */
    admitWithFiles: (input: AdmitRun, given: InputFiles): Promise<Admission | FileConflict> =>
      admitWithFiles(pool, terms, { input, given }),
    /** A host for a run that was admitted without one; the one it has already, if any. */
    claimSlot: (runId: string) => claimPlace(pool, runId, hostStaleMs),
    /** The idle session whose place one that waits may have. */
    findEvictableSession: (runId: string) => findEvictableSession(pool, { runId, hostStaleMs }),
  };
}

interface ClaimedSlot {
  hostId: string;
  /** Of the request that asked for the run. */
  requestId: string | null;
}

interface AdmissionOptions {
  sealer: Sealer;
  /** A host that was silent for longer gets nothing new. */
  hostStaleMs: number;
}

type AdmissionRow =
  | ({ outcome: 'admitted' | 'replay' } & RunRow)
  | { outcome: 'rejected'; reason: RejectionReason; limit: number | null; current: number | null };

async function admitRun(db: Db, terms: AdmissionOptions, input: AdmitRun): Promise<Admission> {
  const { rows } = await db.query<AdmissionRow>(admitStatement, [requestOf(terms, input)]);
  const row = rows[0];
  if (!row) throw new Error('admission returned no row');
  return row.outcome === 'rejected' ? toRejection(row) : { outcome: row.outcome, run: toRun(row) };
}

/** JSON text: columns of `runs` by name, and what `admit_run` declares besides. */
function requestOf({ sealer, hostStaleMs }: AdmissionOptions, input: AdmitRun): string {
  const { runId, config } = input;
  return JSON.stringify({
    id: runId,
    flow_id: input.flowId,
    project_id: input.projectId,
    trigger_type: input.triggerType,
    name: input.name,
    labels: JSON.stringify(input.labels),
    prompt: input.prompt,
    partial_messages: input.partialMessages,
    callback_url: input.callbackUrl,
    key_id: input.keyId,
    key_name: input.keyName,
    key_created_by: input.keyCreatedBy,
    mcp_server_names: Object.keys(config.mcpServers),
    timeout_seconds: input.timeoutSeconds,
    model: input.model,
    max_turns: input.maxTurns,
    max_budget_usd: input.maxBudgetUsd,
    output_schema: input.outputSchema,
    retry_of: input.retryOf,
    secret_fields: nonEmptyFields(config),
    context_sealed: asBytea(sealContext(sealer, runId, config.context)),
    request_id: input.requestId,
    idempotency_key: input.idempotencyKey,
    idempotency_window: `${limits.idempotencyWindowMs} ms`,
    merges_mcp_servers: config.mcpMode === 'merge',
    config_sealed: asBytea(sealConfig(sealer, runId, config)),
    host_stale_after: `${hostStaleMs} ms`,
  });
}

const asBytea = (bytes: Buffer | null): string | null => bytes && `\\x${bytes.toString('hex')}`;

/** A replay keeps the files that its original brought, and a refused run brings none. */
function admitWithFiles(
  pool: Pool,
  terms: AdmissionOptions,
  { input, given }: { input: AdmitRun; given: InputFiles },
): Promise<Admission | FileConflict> {
  const admitted = inTransaction(pool, async (db) => {
    const admission = await admitRun(db, terms, input);
    if (admission.outcome !== 'admitted') return admission;
    const outcome = await addInputFiles(db, admission.run, given);
    if (outcome.outcome !== 'added') throw new FileConflictError(outcome);
    return admission;
  });
  return orConflict(admitted);
}

/** What is wrong with a request is said before what stands in its way for now. */
function rehearseWithFiles(
  pool: Pool,
  terms: AdmissionOptions,
  { input, given }: { input: AdmitRun; given: InputFiles },
): Promise<Admission | FileConflict> {
  return inDryRun(pool, async (db) => {
    const admission = await admitRun(db, terms, input);
    if (admission.outcome === 'replay') return admission;
    const plan = await planFlowUpdate(db, input.flowId, given);
    return plan.outcome === 'fits' ? admission : plan;
  });
}

const admitStatement = `
  select a.outcome, a.reason, a.limit, a.current, a.last_seq, ${runColumns}
  from admit_run($1) a
  cross join lateral (select (a.run).*) r`;

function toRejection(row: AdmissionRow & { outcome: 'rejected' }): AdmissionRejection {
  const { reason, limit, current } = row;
  if (limit === null || current === null) return { outcome: 'rejected', reason };
  return { outcome: 'rejected', reason, limit, current };
}

async function claimPlace(
  pool: Pool,
  runId: string,
  hostStaleMs: number,
): Promise<ClaimedSlot | null> {
  const { rows } = await pool.query<ClaimedSlot>(
    `select claimed.host_id as "hostId", r.request_id as "requestId"
     from claim_slot($1, $2) claimed(host_id), runs r
     where r.id = $1 and claimed.host_id is not null`,
    [runId, `${hostStaleMs} ms`],
  );
  return rows[0] ?? null;
}
