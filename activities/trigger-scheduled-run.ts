import type { Logger } from 'pino';
import type { Flow } from '../core/flows/flow.ts';
import type { MissedStartReason, MissedStarts } from '../core/flows/missed-starts.ts';
import { isChildRejection } from '../core/runs/child-runs.ts';
import type { Run } from '../core/runs/run.ts';
import { emptyRunConfig } from '../core/runs/run-config.ts';
import type { FlowStore } from '../systems/postgres/accounts/flow-store.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { AdmitRun } from '../systems/postgres/admission/admit-run.ts';
import type { ScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';
import type { DiskNotice } from '../systems/redis/disk-notice.ts';
import type { ScheduledOutcome, StartInput } from '../workflows/shared/activities.ts';

export interface ScheduleDeps {
  flows: Pick<FlowStore, 'find'>;
  admission: Pick<AdmissionStore, 'admitRun'>;
  runs: Pick<RunStore, 'find' | 'markWorkflowStarted'>;
  schedules: Pick<ScheduleStore, 'recordStart'>;
  onStartsMissed(missed: MissedStarts): void;
  temporal: { startRun: (run: Run) => Promise<'started' | 'already'> };
  diskNotice: Pick<DiskNotice, 'isShort'>;
  /** The default of flows without a timeout. */
  runTimeoutMs: number;
  logger: Logger;
}

/**
 * Admits a run under the given id and starts its workflow. A second call finds the run admitted. If
 * the project is at its concurrency limit, this start of the schedule is missed. After a database
 * restore the activity is retried until the restore is reconciled, because the lost period may have
 * admitted the run. It is also retried while the disk of Postgres is short.
 */
export async function triggerScheduledRun(
  deps: ScheduleDeps,
  start: StartInput,
): Promise<{ outcome: ScheduledOutcome }> {
  const { flowId, runId } = start;
  const run = (await deps.runs.find(runId)) ?? (await admit(deps, start));
  if (typeof run === 'string') return { outcome: run };
  const scheduledAt = new Date(start.scheduledAt);
  await deps.schedules.recordStart({ flowId, runId, scheduledAt, rejectedCode: null });
  try {
    await deps.temporal.startRun(run);
    await deps.runs.markWorkflowStarted(runId);
  } catch (err) {
    deps.logger.warn({ err, runId, requestId: run.requestId }, 'workflow_start_deferred');
  }
  return { outcome: 'admitted' };
}

/** An attempt whose result was lost may have admitted the run. */
export async function missScheduledRun(
  deps: Pick<ScheduleDeps, 'flows' | 'runs' | 'schedules' | 'onStartsMissed'>,
  { flowId, runId, scheduledAt }: StartInput,
): Promise<void> {
  const flow = await deps.flows.find(flowId);
  if (flow === null || (await deps.runs.find(runId)) !== null) return;
  const { projectId } = flow;
  const at = new Date(scheduledAt);
  await recordMissed(deps, { flowId, projectId, runId, code: 'late', scheduledAt: at });
}

async function admit(
  deps: ScheduleDeps,
  { flowId, runId, scheduledAt }: StartInput,
): Promise<Run | ScheduledOutcome> {
  const flow = await deps.flows.find(flowId);
  if (flow?.schedule == null || flow.prompt === null) return 'unscheduled';
  if (flow.schedulePausedAt !== null || flow.archivedAt !== null) return 'unscheduled';
  const { prompt, projectId } = flow;
  const isPostgresDiskShort = await deps.diskNotice.isShort();
  const wanted = scheduledRun(deps, { ...flow, prompt }, runId);
  const admission = await deps.admission.admitRun({ ...wanted, isPostgresDiskShort });
  if (admission.outcome === 'rejected') {
    const code = admission.reason;
    if (code === 'FLOW_ARCHIVED' || code === 'PROJECT_ARCHIVED') return 'unscheduled';
    deps.logger.warn({ runId, requestId: null, flowId, projectId, code }, 'run_rejected');
    if (code === 'UPSTREAM_UNAVAILABLE') throw new Error('a restore is not reconciled yet');
    if (code === 'POSTGRES_DISK_SHORT') throw new Error('the disk of Postgres is almost full');
    if (code === 'INPUT_FILES_PURGED') throw new Error('a scheduled run is no retry');
    if (isChildRejection(code)) throw new Error('no agent has started a scheduled run');
    await recordMissed(deps, {
      flowId,
      projectId,
      runId,
      code,
      scheduledAt: new Date(scheduledAt),
    });
    return code;
  }
  const { hostId, requestId } = admission.run;
  deps.logger.info({ runId, requestId, flowId, projectId, hostId }, 'run_admitted');
  return admission.run;
}

interface RejectedStart {
  flowId: string;
  projectId: string;
  runId: string;
  code: MissedStartReason;
  scheduledAt: Date;
}

/** A second call reports nothing. */
async function recordMissed(
  { schedules, onStartsMissed }: Pick<ScheduleDeps, 'schedules' | 'onStartsMissed'>,
  { flowId, projectId, runId, code, scheduledAt }: RejectedStart,
): Promise<void> {
  const start = { flowId, runId, scheduledAt, rejectedCode: code };
  if (!(await schedules.recordStart(start))) return;
  onStartsMissed({ flowId, projectId, reason: code, count: 1, scheduledAt });
}

function scheduledRun(
  { runTimeoutMs }: ScheduleDeps,
  { flowId, projectId, prompt, timeoutSeconds }: Flow & { prompt: string },
  runId: string,
): AdmitRun {
  return {
    ...{ runId, flowId, projectId, prompt, triggerType: 'schedule' },
    ...{ keyId: null, keyName: 'schedule', keyCreatedBy: 'schedule', requestId: null },
    ...{ name: null, labels: {}, partialMessages: false, callbackUrl: null, idempotencyKey: null },
    ...{ model: null, maxTurns: null, maxBudgetUsd: null, outputSchema: null, retryOf: null },
    timeoutSeconds: timeoutSeconds ?? Math.ceil(runTimeoutMs / 1_000),
    config: emptyRunConfig,
  };
}
