import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { wantedRun } from '../runs/admission-request.ts';
import { readTrigger } from '../runs/parse-trigger.ts';
import type { BeginRun } from '../runs/start-run.ts';
import { triggerBody, triggerHeaders, triggerQuery } from '../runs/trigger-schema.ts';
import { operatorOf } from './authenticate-operator.ts';
import { config, loadProjectFlow, projectPath } from './load-resources.ts';
import { flowOfProjectParams } from './operator-schemas.ts';

const schema = {
  hide: true,
  params: flowOfProjectParams,
  querystring: triggerQuery,
  headers: triggerHeaders,
  body: triggerBody,
};

/** A run in an operator's name: through the gates of every run, but for the monthly quota. */
export function runNow(app: App, deps: ApiDeps, beginRun: BeginRun): void {
  const url = `${projectPath}/flows/:flowId/runs`;
  const bodyLimit = limits.requestBodyMaxBytes;
  app.post(url, { config, schema, bodyLimit }, async (request, reply) => {
    const { idempotencyKey, config: runConfig, files } = readTrigger(deps, request);
    const flow = await loadProjectFlow(deps, request.params);
    const wanted = wantedRun(deps, {
      asker: {
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
    return beginRun(request, reply, { wanted, files, waitSeconds: request.query.wait });
  });
}
