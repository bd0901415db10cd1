import { z } from 'zod';
import { restoredFields } from '../../core/flows/flow-version.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { filesNotKept, notFound } from '../errors.ts';
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
  summary: 'Make the definition and the files of a version current, as a new version',
  description:
    'The values of `env` and `mcpServers` stay as they are. Active runs keep their files. If the files of the version are no longer kept, the response is 409 `FILES_NOT_KEPT`, and nothing changes.',
  params: flowOfProjectParams.extend({ version: versionNumber() }),
  querystring: noQuery,
  body: z.strictObject({
    files: z.boolean().optional().meta({
      description: 'With `false` only the definition is restored, and the files stay as they are.',
    }),
  }),
  response: { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 409, 429, 500, 503) },
};

/** A second call makes another version. */
export function restoreVersion(app: App, deps: ApiDeps): void {
  app.post(path, { config, schema }, async (request) => {
    const { flowId, projectId } = await loadProjectFlow(deps, request.params);
    const { version: restored } = request.params;
    const { definition } = await findVersion(deps, flowId, restored);
    await checkRunner(deps, definition.runner);
    const fields = restoredFields(definition);
    const result = await recordChange(deps, request, (on) =>
      on.restoreVersion(flowId, {
        version: restored,
        restoresFiles: request.body.files !== false,
        decide(before) {
          checkFlowBudget(deps, { ...before.flow, ...fields });
          return fields;
        },
      }),
    );
    if (result.outcome === 'missing') throw notFound('Version');
    if (result.outcome === 'files_not_kept') throw filesNotKept(restored);
    const { operatorId } = operatorOf(request);
    const { version } = result.flow;
    request.log.info({ operatorId, projectId, flowId, version, restored }, 'flow_version_restored');
    return { data: flowView(result.flow) };
  });
}
