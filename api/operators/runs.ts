import { z } from 'zod';
import type { MadeAttempt } from '../../systems/postgres/runs/list-attempts.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { apiUrlOf } from '../http/public-path.ts';
import { answerRuns } from '../runs/routes/list-runs.ts';
import { runDetails } from '../runs/routes/read-run.ts';
import { runListQuery } from '../runs/routes/run-list-schema.ts';
import { noQuery, runRecord } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { config, loadProject, loadProjectRun, projectPath } from './load-resources.ts';
import { runOfOperator } from './operator-records.ts';
import { projectParams, runOfProjectParams } from './operator-schemas.ts';

const list = {
  operationId: 'listRunsOfProject',
  summary: 'Runs of a project, latest first',
  params: projectParams,
  querystring: runListQuery,
  response: { 200: enveloped(z.array(runRecord)), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const one = {
  operationId: 'readRunOfProject',
  summary: 'A run with its fields for operators',
  params: runOfProjectParams,
  querystring: noQuery,
  response: { 200: enveloped(runOfOperator), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** Run records, and for a single run also the fields for operators only. */
export function runs(app: App, deps: ApiDeps): void {
  app.get(`${projectPath}/runs`, { config, schema: list }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const access = { projectId, flowIds: null };
    const apiUrl = apiUrlOf(request, deps);
    return answerRuns(deps, reply, { access, apiUrl, query: request.query });
  });

  app.get(`${projectPath}/runs/:runId`, { config, schema: one }, async (request) => {
    const run = await loadProjectRun(deps, request.params);
    const { runId, hostId, workflowId } = run;
    const [context, attempts] = await Promise.all([
      deps.configs.context(runId),
      deps.webhooks.attempts(runId),
    ]);
    const webhookAttempts = attempts.map(attemptView);
    const details = await runDetails(deps, run, apiUrlOf(request, deps));
    return { data: { ...details, context, hostId, workflowId, webhookAttempts } };
  });
}

export function attemptView({ startedAt, finishedAt, ...attempt }: MadeAttempt) {
  return {
    ...attempt,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
