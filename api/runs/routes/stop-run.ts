import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeysAndAgents } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { requestEnd } from '../request-end.ts';
import { noQuery, runParams, runRecord } from '../run-schema.ts';
import { runView } from '../run-view.ts';
import type { WorkflowClient } from '../workflow-client.ts';

const schema = {
  operationId: 'stopRun',
  summary: 'Stop a run gracefully',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({
    graceSeconds: z
      .number()
      .min(0)
      .max(limits.run.stopGraceMaxSeconds)
      .optional()
      .meta({
        description: `Time for the agent to exit cleanly. Default: ${limits.run.stopGraceDefaultSeconds}.`,
      }),
  }),
  response: { 200: enveloped(runRecord), ...errors(400, 401, 403, 404, 415, 429, 500, 503) },
};

export function stopRun(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  app.post(
    '/api/v1/runs/:runId/stop',
    { config: forKeysAndAgents('run'), schema },
    async (request) => {
      const found = await loadRun(deps, request.params.runId, accessOf(request));
      const run = await requestEnd(
        { runs: deps.runs, workflows },
        { request, run: found },
        {
          cause: 'stopped_by_api',
          graceSeconds: request.body.graceSeconds ?? limits.run.stopGraceDefaultSeconds,
        },
      );
      return { data: runView(run, apiUrlOf(request, deps)) };
    },
  );
}
