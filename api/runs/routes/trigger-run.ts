import { limits } from '../../../core/limits.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeysAndAgents } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import {
  creatorOf,
  idempotencyKeyOf,
  parentOf,
  parseTrigger,
  toAdmissionRequest,
} from '../admission-request.ts';
import { flowOf } from '../load-run.ts';
import { flowParams, startRunResponses } from '../run-schema.ts';
import type { StartRun } from '../start-run.ts';
import { triggerBody, triggerHeaders, triggerQuery } from '../trigger-schema.ts';

const schema = {
  operationId: 'triggerRun',
  summary: 'Trigger a run of a flow',
  description:
    'Headers `X-Ctx-<Name>` are stored with the run for operators and never returned. The agent gets them ' +
    'as `FLOW_CTX_<NAME>` variables. At most 20 headers with values of at most 256 characters; names have ' +
    'letters and digits, separated by dashes.',
  params: flowParams,
  querystring: triggerQuery,
  headers: triggerHeaders,
  body: triggerBody,
  response: startRunResponses,
};

export function triggerRun(app: App, deps: ApiDeps, startRun: StartRun): void {
  const url = '/api/v1/flows/:flowId/runs';
  app.post(
    url,
    { config: forKeysAndAgents('run'), schema, bodyLimit: limits.http.largeBodyMaxBytes },
    async (request, reply) => {
      const { body, query } = request;
      const { idempotencyKey, config, files } = parseTrigger(deps, request);
      const flow = flowOf(request);
      const read = body.prompt === undefined ? await deps.flows.find(flow.flowId) : null;
      const wanted = toAdmissionRequest(deps, {
        creator: creatorOf(request),
        flow: { ...flow, prompt: read?.prompt ?? null },
        body,
        config,
        idempotencyKey: idempotencyKeyOf(request, idempotencyKey),
      });
      const admission = { ...wanted, ...parentOf(request, deps) };
      const { flowIds } = accessOf(request);
      return startRun(request, reply, { admission, files, waitSeconds: query.wait, flowIds });
    },
  );
}
