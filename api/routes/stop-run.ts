import { z } from 'zod';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import { type App, projectOf } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { loadRun } from '../load-run.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { noQuery, runParams, runRecord } from '../schemas/run.ts';
import { runView } from '../views/run-view.ts';
import type { WorkflowCalls } from '../workflow-calls.ts';

const schema = {
  operationId: 'stopRun',
  summary: 'Stop a run gracefully',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({
    graceSeconds: z
      .number()
      .min(0)
      .max(limits.stopGraceMaxSeconds)
      .optional()
      .meta({ description: `How long the agent may tidy up; ${limits.stopGraceDefaultSeconds}.` }),
  }),
  response: { 200: enveloped(runRecord), ...errors(400, 401, 403, 404, 415, 429, 500, 503) },
};

/** The recorded cause decides; the signal only makes it come about at once. Safe to repeat. */
export function stopRun(app: App, deps: ApiDeps, workflows: WorkflowCalls): void {
  app.post('/api/v1/runs/:runId/stop', { schema }, async (request) => {
    const found = await loadRun(deps, request.params.runId, projectOf(request));
    if (found.endedAt !== null) return { data: runView(found, deps.publicUrl) };

    const { runId } = found;
    await deps.runs.recordCause({ runId, cause: 'stopped_by_api', detail: null });
    failpoint('stop.recorded');
    const graceSeconds = request.body.graceSeconds ?? limits.stopGraceDefaultSeconds;
    await workflows.stop(found, graceSeconds * 1_000);
    failpoint('stop.signalled');
    const run = (await deps.runs.find(runId)) ?? found;
    return { data: runView(run, deps.publicUrl) };
  });
}
