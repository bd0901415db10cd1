import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { Endpoint } from '../../../systems/postgres/endpoints/endpoint-store.ts';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid, notFound } from '../../errors.ts';
import { publicPath } from '../../http/public-path.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, loadProject, projectPath, projectsPath } from '../load-resources.ts';
import { projectParams } from '../operator-schemas.ts';
import { changedEndpointFields, newEndpointFields } from './endpoint-fields.ts';
import {
  endpointParams,
  endpointPatch,
  endpointRecord,
  newEndpoint,
  removedEndpoint,
} from './endpoint-schema.ts';
import { loadEndpoint } from './load-endpoint.ts';

const path = `${projectPath}/endpoints`;
const refusals = errors(400, 401, 403, 404, 429, 500, 503);

const list = {
  operationId: 'listEndpoints',
  summary: 'Webhook endpoints of a project, oldest first',
  params: projectParams,
  querystring: noQuery,
  response: {
    200: enveloped(z.array(endpointRecord)),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

const create = {
  operationId: 'createEndpoint',
  summary: 'Create a webhook endpoint',
  description: `A project has at most ${limits.webhook.endpointsPerProject} endpoints. Beyond that the response is 400.`,
  params: projectParams,
  querystring: noQuery,
  body: newEndpoint,
  response: { 201: enveloped(endpointRecord), ...refusals },
};

const one = { params: endpointParams, querystring: noQuery };

const read = {
  ...one,
  operationId: 'readEndpoint',
  summary: 'A webhook endpoint',
  response: { 200: enveloped(endpointRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const change = {
  ...one,
  operationId: 'changeEndpoint',
  summary: 'Change the URL or the event types of a webhook endpoint',
  description: 'Events that have not been delivered are sent to the new URL.',
  body: endpointPatch,
  response: { 200: enveloped(endpointRecord), ...refusals },
};

const remove = {
  ...one,
  operationId: 'removeEndpoint',
  summary: 'Remove a webhook endpoint; no further events are sent to it',
  response: { 200: enveloped(removedEndpoint), ...refusals },
};

/** Endpoints receive events of a project, in addition to the callback URLs of its runs. */
export function endpoints(app: App, deps: ApiDeps): void {
  readEndpoints(app, deps);
  changeEndpoints(app, deps);
}

function readEndpoints(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema: list }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    return { data: (await deps.endpoints.list(projectId)).map(endpointView) };
  });

  app.get(`${path}/:endpointId`, { config, schema: read }, async (request) => ({
    data: endpointView(await loadEndpoint(deps, request.params)),
  }));
}

function changeEndpoints(app: App, deps: ApiDeps): void {
  const { isCallbackAddressAllowed: isAllowed } = deps;

  app.post(path, { config, schema: create }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const fields = { ...newEndpointFields(request.body, isAllowed), projectId };
    const endpoint = await recordChange(deps, request, (on) => on.createEndpoint(fields));
    if (endpoint === null) throw tooMany();
    const { endpointId } = endpoint;
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, endpointId }, 'endpoint_created');
    const at = `${projectsPath}/${projectId}/endpoints/${endpointId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: endpointView(endpoint) };
  });

  app.patch(`${path}/:endpointId`, { config, schema: change }, async (request) => {
    const before = await loadEndpoint(deps, request.params);
    const { endpointId, projectId } = before;
    const patch = changedEndpointFields(request.body, isAllowed);
    const after = await recordChange(deps, request, (on) => on.changeEndpoint(before, patch));
    if (after === null) throw notFound('Endpoint');
    const { operatorId } = operatorOf(request);
    const fields = Object.keys(patch).join();
    request.log.info({ operatorId, projectId, endpointId, fields }, 'endpoint_changed');
    return { data: endpointView(after) };
  });

  app.delete(`${path}/:endpointId`, { config, schema: remove }, async (request) => {
    const endpoint = await loadEndpoint(deps, request.params);
    const { endpointId, projectId } = endpoint;
    const isRemoved = await recordChange(deps, request, (on) => on.removeEndpoint(endpoint));
    if (!isRemoved) throw notFound('Endpoint');
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, endpointId }, 'endpoint_removed');
    return { data: { endpointId, removed: true as const } };
  });
}

const tooMany = () =>
  invalid('The project has the maximum number of webhook endpoints. Remove one first.', {
    limit: limits.webhook.endpointsPerProject,
    current: limits.webhook.endpointsPerProject,
  });

const endpointView = ({ createdAt, ...endpoint }: Endpoint) => ({
  ...endpoint,
  createdAt: createdAt.toISOString(),
});
