import type { FastifyRequest } from 'fastify';
import { failpoint } from '../../core/failpoint.ts';
import type { Run } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import { authorOf } from '../operators/audit/record-change.ts';
import type { WorkflowClient } from './workflow-client.ts';

interface EndRequest {
  cause: 'stopped_by_api' | 'interrupted_by_api';
  graceSeconds: number;
}

interface EndDeps extends Pick<ApiDeps, 'runs'> {
  workflows: WorkflowClient;
}

/**
 * Records the cause of the end and signals the workflow. Returns the run afterwards, unchanged if
 * it had ended before. The recorded cause is authoritative; the signal only speeds it up. Safe to
 * repeat.
 */
export async function requestEnd(
  { runs, workflows }: EndDeps,
  { request, run: found }: { request: FastifyRequest; run: Run },
  { cause, graceSeconds }: EndRequest,
): Promise<Run> {
  if (found.endedAt !== null) return found;
  const { runId } = found;
  await runs.requestEnd({ runId, cause, author: authorOf(request) });
  request.log.info({ runId, cause, graceSeconds }, 'run_stop_requested');
  failpoint('stop_request.recorded');
  await workflows.stop(found, graceSeconds * 1_000);
  failpoint('stop_request.signalled');
  return (await runs.find(runId)) ?? found;
}
