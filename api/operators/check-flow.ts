import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defaultFlow, type FlowSecrets, noSecrets } from '../../core/flows/flow.ts';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { checkFlowBudget } from '../runs/check-budget.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { uuidLike } from '../schemas/text.ts';
import { checkRunner } from './check-runner.ts';
import { flowFieldsFrom, newFlow } from './flow-fields.ts';
import { config, loadProject, loadProjectFlow, projectPath } from './load-resources.ts';
import { projectParams } from './operator-schemas.ts';

const names = z.array(z.string());

const schema = {
  operationId: 'checkFlow',
  summary: 'Validate the fields of a flow without storing them',
  description:
    'With `flowId`, the fields are validated as a change of that flow. The response has the names ' +
    'of secrets whose stored values differ from those in the request, and no values.',
  params: projectParams,
  querystring: noQuery,
  body: newFlow.extend({ flowId: uuidLike().optional() }),
  response: {
    200: enveloped(z.object({ changedEnvNames: names, changedMcpServerNames: names })),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

/** Nothing is stored, so the audit log has no entry. */
export function checkFlow(app: App, deps: ApiDeps): void {
  const bodyLimit = limits.http.mediumBodyMaxBytes;
  app.post(`${projectPath}/flows/check`, { config, schema, bodyLimit }, async (request) => {
    const { flowId, ...body } = request.body;
    const { projectId } = await loadProject(deps, request.params);
    await checkRunner(deps, body.runner);
    const flow = flowId === undefined ? null : await loadProjectFlow(deps, { projectId, flowId });
    const stored = flow === null ? noSecrets : await deps.flows.readSecrets(flow.flowId);
    const before = flow ?? defaultFlow;
    const fields = flowFieldsFrom(body, { flow: before, secrets: stored });
    checkFlowBudget(deps, { ...before, ...fields });
    const { env, mcpServers } = fields.secrets ?? stored;
    return {
      data: {
        changedEnvNames: changedNames(stored.env, env),
        changedMcpServerNames: changedNames(stored.mcpServers, mcpServers),
      },
    };
  });
}

/** The secrets that are stored and would have another value. */
const changedNames = <T extends FlowSecrets[keyof FlowSecrets]>(before: T, after: T): string[] =>
  Object.entries(after)
    .filter(([name, value]) => name in before && !isDeepStrictEqual(before[name], value))
    .map(([name]) => name)
    .sort();
