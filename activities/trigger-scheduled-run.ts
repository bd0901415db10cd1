import type { Logger } from 'pino';
import type { Flow } from '../core/flows/flow.ts';
import type { Run } from '../core/runs/run.ts';
import { emptyRunConfig } from '../core/runs/run-config.ts';
import type { FlowStore } from '../systems/postgres/accounts/flow-store.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { AdmitRun } from '../systems/postgres/admission/admit-run.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';
import type { DiskNotice } from '../systems/redis/disk-notice.ts';
import type { ScheduledOutcome } from '../workflows/shared/activities.ts';

export interface ScheduleDeps {
  flows: Pick<FlowStore, 'find'>;
  admission: Pick<AdmissionStore, 'admitRun'>;
  runs: Pick<RunStore, 'find' | 'markWorkflowStarted'>;
  temporal: { startRun: (run: Run) => Promise<'started' | 'already'> };
  diskNotice: Pick<DiskNotice, 'isShort'>;
  /** The default of flows without a timeout. */
  runTimeoutMs: number;
  logger: Logger;
}

/**
 * Admits a run under the given id and starts its workflow. A second call finds the run admitted. If
 * the project is at its concurrency limit, this tick of the schedule is skipped. After a database
 * restore the activity is retried until the restore is reconciled, because the lost period may have
 * admitted the run. It is also retried while the disk of Postgres is short.
 */
export async function triggerScheduledRun(
  deps: ScheduleDeps,
  { flowId, runId }: { flowId: string; runId: string },
): Promise<{ outcome: ScheduledOutcome }> {
  const run = (await deps.runs.find(runId)) ?? (await admit(deps, { flowId, runId }));
  if (typeof run === 'string') return { outcome: run };
  try {
    await deps.temporal.startRun(run);
    await deps.runs.markWorkflowStarted(runId);
  } catch (err) {
    deps.logger.warn({ err, runId, requestId: run.requestId }, 'workflow_start_deferred');
  }
  return { outcome: 'admitted' };
}

async function admit(
  deps: ScheduleDeps,
  { flowId, runId }: { flowId: string; runId: string },
): Promise<Run | ScheduledOutcome> {
  const flow = await deps.flows.find(flowId);
  if (flow?.schedule == null || flow.prompt === null) return 'unscheduled';
  const { prompt, projectId } = flow;
  const isPostgresDiskShort = await deps.diskNotice.isShort();
  const wanted = scheduledRun(deps, { ...flow, prompt }, runId);
  const admission = await deps.admission.admitRun({ ...wanted, isPostgresDiskShort });
  if (admission.outcome === 'rejected') {
    const code = admission.reason;
    deps.logger.warn({ runId, requestId: null, flowId, projectId, code }, 'run_rejected');
    if (code === 'UPSTREAM_UNAVAILABLE') throw new Error('a restore is not reconciled yet');
    if (code === 'POSTGRES_DISK_SHORT') throw new Error('the disk of Postgres is almost full');
    if (code === 'INPUT_FILES_PURGED') throw new Error('a scheduled run is no retry');
    return code;
  }
  const { hostId, requestId } = admission.run;
  deps.logger.info({ runId, requestId, flowId, projectId, hostId }, 'run_admitted');
  return admission.run;
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
