import { limits } from '../../../core/limits.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { creatorOf, parseTrigger, toAdmissionRequest } from '../admission-request.ts';
import { checkCallbackUrl } from '../check-callback-url.ts';
import { loadFlow, loadRun } from '../load-run.ts';
import { requireSecretsAgain, retryBody } from '../retry-body.ts';
import { runParams, startRunResponses } from '../run-schema.ts';
import type { StartRun } from '../start-run.ts';
import { triggerBody, triggerHeaders, triggerQuery } from '../trigger-schema.ts';

const schema = {
  operationId: 'retryRun',
  summary: 'Retry an ended run: a new run of the same flow in its current version',
  description:
    'Prompt, name, labels, callbackUrl, partialMessages, bounds, outputSchema and model default to those of the original run. Fields that are not stored (env, mcpServers, mcpMode, appendSystemPrompt, disallowedTools, X-Ctx-* headers) must be supplied again if the original run set them. The run’s own input files are copied; once retention has deleted them, `files` must be supplied.',
  params: runParams,
  querystring: triggerQuery,
  headers: triggerHeaders,
  body: triggerBody,
  response: startRunResponses,
};

export function retryRun(app: App, deps: ApiDeps, startRun: StartRun): void {
  const url = '/api/v1/runs/:runId/retry';
  app.post(
    url,
    { config: forKeys('run'), schema, bodyLimit: limits.http.largeBodyMaxBytes },
    async (request, reply) => {
      const trigger = parseTrigger(deps, request);
      const access = accessOf(request);
      const run = await loadRun(deps, request.params.runId, access);
      if (run.sessionId !== null) throw invalid('A session cannot be retried. Open a new one.');
      if (run.endedAt === null) throw invalid('The run has not ended.');
      if (run.endCause === 'lost_in_restore')
        throw invalid('The input of this run was lost in a restore. Trigger a new run.');
      requireSecretsAgain(run, request.body, trigger);
      const body = retryBody(run, await deps.runs.triggerFields(run.runId), request.body);
      // The operator's allowed networks may have changed since the original run.
      if (body.callbackUrl !== undefined)
        checkCallbackUrl(body.callbackUrl, deps.isCallbackAddressAllowed);
      const flow = await loadFlow(deps, run.flowId, run.projectId);
      const input = toAdmissionRequest(deps, {
        creator: creatorOf(request),
        flow,
        body,
        ...trigger,
      });
      return startRun(request, reply, {
        admission: { ...input, retryOf: run.runId },
        files: trigger.files,
        waitSeconds: request.query.wait,
        flowIds: access.flowIds,
      });
    },
  );
}
