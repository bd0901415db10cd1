import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { parseTrigger, toAdmissionRequest } from '../runs/admission-request.ts';
import { startRunResponses } from '../runs/run-schema.ts';
import type { StartRun } from '../runs/start-run.ts';
import { triggerBody, triggerHeaders, triggerQuery } from '../runs/trigger-schema.ts';
import { actorOf } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import { config, loadProjectFlow, projectPath } from './load-resources.ts';
import { flowOfProjectParams } from './operator-schemas.ts';

const schema = {
  operationId: 'runNow',
  summary: 'Start a run of a flow now; it does not count towards the monthly quota',
  params: flowOfProjectParams,
  querystring: triggerQuery,
  headers: triggerHeaders,
  body: triggerBody,
  response: startRunResponses,
};

/** Starts a run for an operator. Every limit applies except the monthly quota. */
export function runNow(app: App, deps: ApiDeps, startRun: StartRun): void {
  const url = `${projectPath}/flows/:flowId/runs`;
  const bodyLimit = limits.http.largeBodyMaxBytes;
  app.post(url, { config, schema, bodyLimit }, async (request, reply) => {
    const { idempotencyKey, config: runConfig, files } = parseTrigger(deps, request);
    const flow = await loadProjectFlow(deps, request.params);
    const admission = toAdmissionRequest(deps, {
      creator: {
        triggerType: 'dashboard',
        keyId: null,
        keyName: 'dashboard',
        keyCreatedBy: operatorOf(request).name,
        requestId: request.id,
      },
      flow,
      body: request.body,
      config: runConfig,
      idempotencyKey,
    });
    const recorded = { ...admission, audit: actorOf(request) };
    const waitSeconds = request.query.wait;
    return startRun(request, reply, { admission: recorded, files, waitSeconds, flowIds: null });
  });
}
