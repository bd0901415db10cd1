// Admission and placement are one SQL function: one round trip, one transaction. It locks the
// project and then placement, so one caller at a time decides about the limits, the quota, the
// idempotency window and the slots of the hosts. A run with files is placed after its admission has
// committed: that transaction has several statements, and no other project may wait for it.

import type { AuditActor } from '../../../core/audit/audit-entry.ts';
import { limits } from '../../../core/limits.ts';
import type { BudgetOwner } from '../../../core/metering/monthly-budget.ts';
import type { ChildRejection } from '../../../core/runs/child-runs.ts';
import type { Run } from '../../../core/runs/run.ts';
import { recordEntry } from '../accounts/record-entry.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction, inDryRun } from '../client/transaction.ts';
import {
  addInputFiles,
  type FileConflict,
  FileConflictError,
  type InputFiles,
  orConflict,
  planFlowUpdate,
} from '../files/input-files.ts';
import { type RunRow, runColumns, toRun } from '../runs/run-row.ts';
import { type AdmitRun, requestOf } from './admit-run.ts';
import { claimSlot } from './claim-slot.ts';
import { findEvictableInProject, findEvictableOnHosts } from './evictable-session.ts';
import type { Sealer } from './seal.ts';
import { assignWaiting, findUnclaimed } from './waiting-runs.ts';

type RejectionReason =
  | 'RUNNER_OFFLINE'
  | 'CONCURRENT_LIMIT'
  | 'MONTHLY_QUOTA'
  | 'BUDGET_REACHED'
  | 'STORAGE_QUOTA'
  | ChildRejection
  /** The flow was archived after the request was authenticated. */
  | 'FLOW_ARCHIVED'
  | 'PROJECT_ARCHIVED'
  | 'POSTGRES_DISK_SHORT'
  /** Retention has deleted the input files of the run to retry, and the request has none. */
  | 'INPUT_FILES_PURGED'
  /** The run may be one that a restore has lost; reconciling has not finished. */
  | 'UPSTREAM_UNAVAILABLE';

export interface AdmissionRejection {
  outcome: 'rejected';
  reason: RejectionReason;
  /** Both are set if a limit was reached. */
  limit?: number;
  current?: number;
  /** Whose monthly budget was reached. */
  budget?: BudgetOwner;
}

export type Admission =
  | { outcome: 'admitted'; run: Run }
  /**
   * The current state of the run with this idempotency key; `deletedAt` is set if it was deleted.
   */
  | { outcome: 'replay'; run: Run }
  | AdmissionRejection;

export type AdmissionStore = ReturnType<typeof createAdmission>;

export function createAdmission(
  pool: Pool,
  sealer: Sealer,
  hostStaleMs: number = limits.host.staleMs,
) {
  const options = { sealer, hostStaleMs };
  return {
    /** Throws if the project or the flow does not exist. */
    admitRun: (input: AdmitRun): Promise<Admission> =>
      input.author === undefined
        ? admitRun(pool, options, { input })
        : admitInSteps(pool, options, { input, files: noFiles }),
    /**
     * The result of `admitWithFiles` without any change, so that only accepted files are stored.
     */
    dryRunWithFiles: (input: AdmitRun, files: InputFiles): Promise<Admission | FileConflict> =>
      dryRunWithFiles(pool, options, { input, files }),
    /** Admits the run with its files, or neither. */
    admitWithFiles: (input: AdmitRun, files: InputFiles): Promise<Admission | FileConflict> =>
      admitWithFiles(pool, options, { input, files }),
    /**
     * Assigns a host to the run's sandbox after `afterGeneration`, see claim_slot.sql; null while
     * the run waits for a slot.
     */
    claimSlot: (runId: string, afterGeneration: number) =>
      claimSlot(pool, { runId, afterGeneration, hostStaleMs }),
    /** The idle session to evict for a run that the project's limit rejects. */
    findEvictableInProject: (projectId: string) => findEvictableInProject(pool, projectId),
    /** Assigns the free slots of all hosts to waiting runs and sessions, see assign_waiting.sql. */
    assignWaiting: () => assignWaiting(pool, hostStaleMs),
    /**
     * Runs and sessions that have not claimed their assigned slot, and sessions that wait for one
     * although their messages were withdrawn.
     */
    findUnclaimed: () => findUnclaimed(pool),
    /** The idle sessions to evict for runs that wait because every host is full. */
    findEvictableOnHosts: () => findEvictableOnHosts(pool, hostStaleMs),
  };
}

const noFiles: InputFiles = { files: [], classifiedBy: null };

interface AdmissionOptions {
  sealer: Sealer;
  /** A host whose heartbeat is older gets no new runs. */
  hostStaleMs: number;
}

type AdmissionRow =
  | ({ outcome: 'admitted' | 'replay' } & RunRow)
  | ({ outcome: 'rejected'; reason: RejectionReason } & ReachedLimit);

interface ReachedLimit {
  limit: number | null;
  current: number | null;
  budget: BudgetOwner | null;
}

async function admitRun(
  db: Db,
  options: AdmissionOptions,
  { input, files, isFinal }: { input: AdmitRun; files?: InputFiles; isFinal?: boolean },
): Promise<Admission> {
  const request = JSON.stringify({
    ...requestOf(options, input),
    supplies_files: files !== undefined && files.files.length > 0,
    places_run: files === undefined,
    // The dry run has checked it; the files that were stored since must not reject their own run.
    checks_storage: isFinal !== true,
  });
  const statement = { name: 'admit_run', text: admitStatement, values: [request] };
  const { rows } = await db.query<AdmissionRow>(statement);
  const row = rows[0];
  if (!row) throw new Error('admission returned no row');
  return row.outcome === 'rejected' ? toRejection(row) : { outcome: row.outcome, run: toRun(row) };
}

/** A replay keeps the files of its original, and a rejected run stores none. */
const admitWithFiles = (
  pool: Pool,
  options: AdmissionOptions,
  request: { input: AdmitRun; files: InputFiles },
): Promise<Admission | FileConflict> =>
  orConflict(admitInSteps(pool, options, { ...request, isFinal: true }));

/** One transaction with several statements, so the run is placed afterwards. */
async function admitInSteps(
  pool: Pool,
  options: AdmissionOptions,
  request: { input: AdmitRun; files: InputFiles; isFinal?: boolean },
): Promise<Admission> {
  const { files, input } = request;
  const admission = await inBriefTransaction(pool, async (db) => {
    const admitted = await admitRun(db, options, request);
    if (admitted.outcome !== 'admitted') return admitted;
    if (files.files.length > 0) {
      const outcome = await addInputFiles(db, admitted.run, files);
      if (outcome.outcome !== 'added') throw new FileConflictError(outcome);
    }
    if (input.author !== undefined) await recordRunStarted(db, input.author, admitted.run);
    return admitted;
  });
  if (admission.outcome !== 'admitted') return admission;
  return { ...admission, run: await placed(pool, options, admission.run) };
}

function recordRunStarted(db: Db, actor: AuditActor, { projectId, runId }: Run): Promise<void> {
  const object = { projectId, objectId: runId, fieldsBefore: [], fieldsAfter: [] };
  return recordEntry(db, { ...actor, action: 'run_started', ...object });
}

/** The run is admitted: if it gets no host now, or this fails, its workflow claims the slot. */
async function placed(pool: Pool, { hostStaleMs }: AdmissionOptions, run: Run): Promise<Run> {
  const first = { runId: run.runId, afterGeneration: 0, hostStaleMs };
  const slot = await claimSlot(pool, first).catch(() => null);
  return slot === null ? run : { ...run, hostId: slot.hostId };
}

/** A conflict of the files is reported before a limit that may pass. */
function dryRunWithFiles(
  pool: Pool,
  options: AdmissionOptions,
  { input, files }: { input: AdmitRun; files: InputFiles },
): Promise<Admission | FileConflict> {
  return inDryRun(pool, async (db) => {
    const admission = await admitRun(db, options, { input, files });
    if (admission.outcome === 'replay') return admission;
    const plan = await planFlowUpdate(db, input.flowId, files);
    return plan.outcome === 'fits' ? admission : plan;
  });
}

const admitStatement = `
  select a.outcome, a.reason, a.limit, a.current, a.budget, a.last_seq, ${runColumns}
  from admit_run($1) a
  cross join lateral (select (a.run).*) r`;

function toRejection(row: AdmissionRow & { outcome: 'rejected' }): AdmissionRejection {
  const { reason, limit, current, budget } = row;
  if (limit === null || current === null) return { outcome: 'rejected', reason };
  const reached = { limit, current, ...(budget === null ? {} : { budget }) };
  return { outcome: 'rejected', reason, ...reached };
}
