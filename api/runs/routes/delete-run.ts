import { z } from 'zod';
import { failpoint } from '../../../core/failpoint.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { noQuery, runParams } from '../run-schema.ts';
import type { WorkflowClient } from '../workflow-client.ts';

const schema = {
  operationId: 'deleteRun',
  summary: 'Terminate and delete a run',
  params: runParams,
  querystring: noQuery,
  response: {
    200: enveloped(z.object({ runId: z.uuid(), deleted: z.literal(true) })),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

/** If two calls are concurrent, one deletes the run, and the other returns 404. */
export function deleteRun(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  app.delete('/api/v1/runs/:runId', { config: forKeys('run'), schema }, async (request) => {
    const { runId } = await loadRun(deps, request.params.runId, accessOf(request));
    const run = await deps.runs.markDeleted(runId, authorOf(request));
    if (run === null) throw notFound('Run');
    request.log.info({ runId }, 'run_deleted');
    failpoint('delete.marked');
    if (run.endedAt === null) await workflows.stop(run, 0);
    failpoint('delete.signalled');
    return { data: { runId, deleted: true as const } };
  });
}
