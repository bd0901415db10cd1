import { restoredFields } from '../../core/flows/flow-version.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { flowRecord } from '../flows/flow-schema.ts';
import { flowView } from '../flows/flow-view.ts';
import { findVersion } from '../flows/versions/find-version.ts';
import { versionNumber } from '../flows/versions/version-schema.ts';
import { checkFlowBudget } from '../runs/check-budget.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { recordChange } from './audit/record-change.ts';
import { checkRunner } from './check-runner.ts';
import { operatorOf } from './identify-operator.ts';
import { config, loadProjectFlow, projectPath } from './load-resources.ts';
import { flowOfProjectParams } from './operator-schemas.ts';

const path = `${projectPath}/flows/:flowId/versions/:version/restore`;

const schema = {
  operationId: 'restoreFlowVersion',
  summary: 'Make the definition of a version the current one, as a new version',
  description: 'Files, and the values of `env` and `mcpServers`, stay as they are.',
  params: flowOfProjectParams.extend({ version: versionNumber() }),
  querystring: noQuery,
  response: { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** A second call makes another version. */
export function restoreVersion(app: App, deps: ApiDeps): void {
  app.post(path, { config, schema }, async (request) => {
    const { flowId, projectId } = await loadProjectFlow(deps, request.params);
    const { version: restored } = request.params;
    const { definition } = await findVersion(deps, flowId, restored);
    await checkRunner(deps, definition.runner);
    const flow = await recordChange(deps, request, (on) =>
      on.changeFlow(flowId, (before) => {
        const fields = restoredFields(definition);
        checkFlowBudget(deps, { ...before.flow, ...fields });
        return fields;
      }),
    );
    if (flow === null) throw notFound('Flow');
    const { operatorId } = operatorOf(request);
    const { version } = flow;
    request.log.info({ operatorId, projectId, flowId, version, restored }, 'flow_version_restored');
    return { data: flowView(flow) };
  });
}
