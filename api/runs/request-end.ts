import type { FastifyBaseLogger } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import type { EndCause } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import type { WorkflowClient } from './workflow-client.ts';

interface EndRequest {
  cause: EndCause;
  graceSeconds: number;
}

interface RequestEndDeps {
  workflows: WorkflowClient;
  log: FastifyBaseLogger;
}

/**
 * Records the cause of the end and signals the workflow. Returns the run afterwards, unchanged if
 * it had ended before. The recorded cause is authoritative; the signal only speeds it up. Safe to
 * repeat.
 */
export async function requestEnd(
  { runs, workflows, log }: Pick<ApiDeps, 'runs'> & RequestEndDeps,
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
