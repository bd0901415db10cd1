import type { FastifyBaseLogger } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import type { EndCause } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import type { WorkflowClient } from './workflow-client.ts';

export interface EndRequest {
  cause: EndCause;
  graceSeconds: number;
}

interface Means {
  workflows: WorkflowClient;
  log: FastifyBaseLogger;
}

/**
 * The run as it is once its end was asked for; as it was where it had ended before. The recorded
 * cause decides; the signal only makes it come about at once. Safe to repeat.
 */
export async function requestEnd(
  { runs, workflows, log }: Pick<ApiDeps, 'runs'> & Means,
  found: Run,
  { cause, graceSeconds }: EndRequest,
): Promise<Run> {
  if (found.endedAt !== null) return found;
  const { runId } = found;
  await runs.recordCause({ runId, cause, detail: null });
  log.info({ runId, cause, graceSeconds }, 'run_stop_requested');
  failpoint('stop_request.recorded');
  await workflows.stop(found, graceSeconds * 1_000);
  failpoint('stop_request.signalled');
  return (await runs.find(runId)) ?? found;
}
