import { questionsOf } from '../../../core/agent/interaction.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { StoredInteraction } from '../../../systems/postgres/runs/interaction-store.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forRunCallers } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { noQuery, runParams, runWithPrompt } from '../run-schema.ts';
import { runView } from '../run-view.ts';

const schema = {
  operationId: 'readRun',
  summary: 'Current state of a run',
  params: runParams,
  querystring: noQuery,
  response: { 200: enveloped(runWithPrompt), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

export function readRun(app: App, deps: ApiDeps): void {
  const config = forRunCallers('read');
  app.get('/api/v1/runs/:runId', { config, schema }, async (request) => {
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    return { data: await runDetails(deps, run, apiUrlOf(request, deps)) };
  });
}

/** The record of a single run. */
export async function runDetails(
  deps: Pick<ApiDeps, 'interactions' | 'runs'>,
  run: Run,
  apiUrl: string,
) {
  const open = run.endedAt === null ? await deps.interactions.open(run.runId) : [];
  const interactions = open.filter(({ answers }) => answers === null).map(interactionView);
  const files = await deps.runs.findStoredFiles(run.runId);
  const { flowVersion, parentRunId, rootRunId, depth, ...record } = runView(run, apiUrl);
  const later = { flowVersion, parentRunId, rootRunId, depth };
  return { ...record, prompt: run.prompt, interactions, files, ...later };
}

function interactionView({ interactionId, toolName, input, askedAt }: StoredInteraction) {
  return {
    interactionId,
    toolName,
    questions: questionsOf(input),
    askedAt: askedAt.toISOString(),
  };
}
