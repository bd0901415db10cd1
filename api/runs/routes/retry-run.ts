import { limits } from '../../../core/limits.ts';
import { type App, callerOf } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { createdByKey, toAdmissionRequest } from '../admission-request.ts';
import { checkCallbackUrl } from '../check-callback-url.ts';
import { loadFlow, loadRun } from '../load-run.ts';
import { parseTrigger } from '../parse-trigger.ts';
import { requireSecretsAgain, retryBody } from '../retry-body.ts';
import { runParams, startRunResponses } from '../run-schema.ts';
import type { StartRun } from '../start-run.ts';
import { triggerBody, triggerHeaders, triggerQuery } from '../trigger-schema.ts';

const schema = {
  operationId: 'retryRun',
  summary: 'Run again what has ended: a new run of the same flow, as it is now',
  description:
    'Prompt, name, labels, callbackUrl, partialMessages, bounds, outputSchema and model are those of the run unless they are given; what is not kept (env, mcpServers, mcpMode, appendSystemPrompt, disallowedTools, X-Ctx-* headers) has to be given anew where the run had it. Files that were the run’s alone come along.',
  params: runParams,
  querystring: triggerQuery,
  headers: triggerHeaders,
  body: triggerBody,
  response: startRunResponses,
};

export function retryRun(app: App, deps: ApiDeps, startRun: StartRun): void {
  const url = '/api/v1/runs/:runId/retry';
  app.post(url, { schema, bodyLimit: limits.requestBodyMaxBytes }, async (request, reply) => {
    const given = parseTrigger(deps, request);
    const caller = callerOf(request);
    const run = await loadRun(deps, request.params.runId, caller.key.projectId);
    if (run.sessionId !== null) throw invalid('A session is not run again: open another.');
    if (run.endedAt === null) throw invalid('The run has not ended.');
    if (run.endCause === 'lost_in_restore')
      throw invalid('What the run was asked for is lost: trigger another.');
    requireSecretsAgain(run, request.body, given);
    const body = retryBody(run, await deps.runs.triggerFields(run.runId), request.body);
    // Asked for once more: what may be called is for the operator to decide, and may have changed.
    if (body.callbackUrl !== undefined)
      checkCallbackUrl(body.callbackUrl, deps.isCallbackAddressAllowed);
    const flow = await loadFlow(deps, run.flowId, run.projectId);
    const wanted = toAdmissionRequest(deps, {
      creator: createdByKey(caller, request.id),
      flow,
      body,
      ...given,
    });
    return startRun(request, reply, {
      admission: { ...wanted, retryOf: run.runId },
      files: given.files,
      waitSeconds: request.query.wait,
    });
  });
}
