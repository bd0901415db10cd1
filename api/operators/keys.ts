import { z } from 'zod';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { KeyRecord } from '../../systems/postgres/accounts/key-row.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { readPage } from '../http/pagination.ts';
import { publicPath } from '../http/public-path.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { recordChange } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import {
  config,
  loadProject,
  loadProjectKey,
  projectPath,
  projectsPath,
} from './load-resources.ts';
import { createdKey, keyRecord } from './operator-records.ts';
import { keyParams, keyPatch, newKey, projectParams } from './operator-schemas.ts';

const path = `${projectPath}/keys`;

const list = {
  operationId: 'listKeys',
  summary: 'API keys of a project, oldest first',
  params: projectParams,
  querystring: pageByIdQuery,
  response: { 200: enveloped(z.array(keyRecord)), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const create = {
  operationId: 'createKey',
  summary: 'Create an API key',
  description: 'Only this response contains the key itself.',
  params: projectParams,
  querystring: noQuery,
  body: newKey,
  response: { 201: enveloped(createdKey), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const read = {
  operationId: 'readKey',
  summary: 'An API key, without the key itself',
  params: keyParams,
  querystring: noQuery,
  response: { 200: enveloped(keyRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const change = {
  ...read,
  operationId: 'changeKey',
  summary: 'Change the monthly budget of an API key',
  body: keyPatch,
};

const revoke = {
  ...read,
  operationId: 'revokeKey',
  summary: 'Revoke an API key permanently; safe to repeat',
  response: { 200: enveloped(keyRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

export function keys(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema: list }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/keys`;
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      deps.keys.page(projectId, range),
    );
    return { data: page.keys.map(keyView) };
  });

  app.post(path, { config, schema: create }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const { name, ...rest } = request.body;
    if (rest.expiresAt && rest.expiresAt <= deps.now())
      throw invalid('body.expiresAt: must be in the future');
    const operator = operatorOf(request);
    const fields = { ...omitUndefined(rest), name };
    const { key, record } = await recordChange(deps, request, (on) =>
      on.createKey({ ...fields, projectId, createdBy: operator.name }),
    );
    const { operatorId } = operator;
    request.log.info({ operatorId, projectId, keyId: record.keyId }, 'key_created');
    const at = `${projectsPath}/${projectId}/keys/${record.keyId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: { key, ...keyView(record) } };
  });

  app.get(`${path}/:keyId`, { config, schema: read }, async (request) => ({
    data: keyView(await loadProjectKey(deps, request.params)),
  }));

  app.patch(`${path}/:keyId`, { config, schema: change }, async (request) => {
    const { keyId, projectId } = await loadProjectKey(deps, request.params);
    const patch = omitUndefined(request.body);
    const key = await recordChange(deps, request, (on) => on.changeKey(keyId, patch));
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, keyId }, 'key_changed');
    return { data: keyView(key ?? missingKey(keyId)) };
  });

  app.delete(`${path}/:keyId`, { config, schema: revoke }, async (request) => {
    const { keyId, projectId } = await loadProjectKey(deps, request.params);
    await recordChange(deps, request, (on) => on.revokeKey({ projectId, keyId }));
    const key = (await deps.keys.find(keyId)) ?? missingKey(keyId);
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, keyId }, 'key_revoked');
    return { data: keyView(key) };
  });
}

function missingKey(keyId: string): never {
  throw new Error(`key ${keyId} is missing, although keys are never deleted`);
}

function keyView({ scopes, expiresAt, revokedAt, lastUsedAt, createdAt, ...key }: KeyRecord) {
  return {
    ...key,
    scopes: scopes && [...scopes],
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
