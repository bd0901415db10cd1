import { defaultFlow } from '../../core/flows/flow.ts';
import { limits } from '../../core/limits.ts';
import { runnerError } from '../../core/runs/validate-runner.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { flowView } from '../flows/flow-view.ts';
import { readPage } from '../http/pagination.ts';
import { publicPath } from '../http/public-path.ts';
import { checkFlowBudget } from '../runs/check-budget.ts';
import { noQuery } from '../runs/run-schema.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { operatorOf } from './authenticate-operator.ts';
import { flowFieldsFrom, flowPatch, newFlow } from './flow-fields.ts';
import {
  config,
  loadProject,
  loadProjectFlow,
  projectPath,
  projectsPath,
} from './load-resources.ts';
import { flowOfProjectParams, projectParams } from './operator-schemas.ts';

const path = `${projectPath}/flows`;
const bodyLimit = limits.http.mediumBodyMaxBytes;
const maxBytes = limits.page.flowsMaxBytes;
const plain = { hide: true, querystring: noQuery };

/** Values of `env` and `mcpServers` are write-only: answers contain their names. */
export function flows(app: App, deps: ApiDeps): void {
  const list = { hide: true, querystring: pageByIdQuery, params: projectParams };
  app.get(path, { config, schema: list }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/flows`;
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      deps.flows.listByProject(projectId, { ...range, maxBytes }),
    );
    return { data: page.flows.map(flowView) };
  });

  const create = { ...plain, params: projectParams, body: newFlow };
  app.post(path, { config, schema: create, bodyLimit }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const { name, runner } = request.body;
    await checkRunner(deps, runner);
    const fields = flowFieldsFrom(request.body);
    checkFlowBudget(deps, { ...defaultFlow, ...fields });
    const flow = await deps.flows.create({ ...fields, name, projectId });
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, flowId: flow.flowId }, 'flow_created');
    const at = `${projectsPath}/${projectId}/flows/${flow.flowId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: flowView(flow) };
  });

  const one = { ...plain, params: flowOfProjectParams };
  app.get(`${path}/:flowId`, { config, schema: one }, async (request) => ({
    data: flowView(await loadProjectFlow(deps, request.params)),
  }));

  /** Runs that have started keep the configuration that they started with. */
  const change = { ...one, body: flowPatch };
  app.patch(`${path}/:flowId`, { config, schema: change, bodyLimit }, async (request) => {
    const { flowId, projectId } = await loadProjectFlow(deps, request.params);
    await checkRunner(deps, request.body.runner);
    const flow = await deps.flows.change(flowId, (before) => {
      const fields = flowFieldsFrom(request.body, before);
      checkFlowBudget(deps, { ...before.flow, ...fields });
      return fields;
    });
    if (flow === null)
      throw new Error(`flow ${flowId} is missing, although flows are never deleted`);
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, flowId, version: flow.version }, 'flow_changed');
    return { data: flowView(flow) };
  });
}

async function checkRunner({ facts }: Pick<ApiDeps, 'facts'>, runner: unknown): Promise<void> {
  if (typeof runner !== 'string') return;
  const fault = runnerError(runner, await facts.hosts());
  if (fault !== null) throw invalid(`body.runner: ${fault}`);
}
