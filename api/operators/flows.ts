import { z } from 'zod';
import { defaultFlow } from '../../core/flows/flow.ts';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { flowRecord } from '../flows/flow-schema.ts';
import { flowView } from '../flows/flow-view.ts';
import { readPage } from '../http/pagination.ts';
import { publicPath } from '../http/public-path.ts';
import { checkFlowBudget } from '../runs/check-budget.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { recordChange } from './audit/record-change.ts';
import { checkRunner } from './check-runner.ts';
import { flowFieldsFrom, flowPatch, newFlow } from './flow-fields.ts';
import { operatorOf } from './identify-operator.ts';
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

const listQuery = pageByIdQuery.extend({
  archived: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: the archived flows instead of those in use.' }),
});

const list = {
  operationId: 'listFlowsOfProject',
  summary: 'Flows of a project, oldest first',
  params: projectParams,
  querystring: listQuery,
  response: { 200: enveloped(z.array(flowRecord)), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const create = {
  operationId: 'createFlow',
  summary: 'Create a flow',
  params: projectParams,
  querystring: noQuery,
  body: newFlow,
  response: { 201: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const one = { params: flowOfProjectParams, querystring: noQuery };

const read = {
  ...one,
  operationId: 'readFlow',
  summary: 'A flow',
  response: { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const change = {
  ...one,
  operationId: 'changeFlow',
  summary: 'Change a flow; runs that have started keep their configuration',
  body: flowPatch,
  response: { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** Values of `env` and `mcpServers` are write-only: answers contain their names. */
export function flows(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema: list }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/flows`;
    const isArchived = request.query.archived === 'true';
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      deps.flows.listByProject(projectId, { ...range, maxBytes, isArchived }),
    );
    return { data: page.flows.map(flowView) };
  });

  app.post(path, { config, schema: create, bodyLimit }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const { name, runner } = request.body;
    await checkRunner(deps, runner);
    const fields = flowFieldsFrom(request.body);
    checkFlowBudget(deps, { ...defaultFlow, ...fields });
    const newFields = { ...fields, name, projectId };
    const flow = await recordChange(deps, request, (on) => on.createFlow(newFields));
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, flowId: flow.flowId }, 'flow_created');
    const at = `${projectsPath}/${projectId}/flows/${flow.flowId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: flowView(flow) };
  });

  app.get(`${path}/:flowId`, { config, schema: read }, async (request) => ({
    data: flowView(await loadProjectFlow(deps, request.params)),
  }));

  app.patch(`${path}/:flowId`, { config, schema: change, bodyLimit }, async (request) => {
    const { flowId, projectId } = await loadProjectFlow(deps, request.params);
    await checkRunner(deps, request.body.runner);
    const flow = await recordChange(deps, request, (on) =>
      on.changeFlow(flowId, (before) => {
        const fields = flowFieldsFrom(request.body, before);
        checkFlowBudget(deps, { ...before.flow, ...fields });
        return fields;
      }),
    );
    if (flow === null) throw missingFlow(flowId);
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, flowId, version: flow.version }, 'flow_changed');
    return { data: flowView(flow) };
  });
}

const missingFlow = (flowId: string) =>
  new Error(`flow ${flowId} is missing, although flows are never deleted`);
