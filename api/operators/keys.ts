import { omitUndefined } from '../../core/omit-undefined.ts';
import type { KeyRecord } from '../../systems/postgres/accounts/key-store.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { readPage } from '../http/pagination.ts';
import { noQuery } from '../runs/run-schema.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { operatorOf } from './authenticate-operator.ts';
import {
  config,
  loadProject,
  loadProjectKey,
  projectPath,
  projectsPath,
} from './load-resources.ts';
import { keyParams, newKey, projectParams } from './operator-schemas.ts';

const path = `${projectPath}/keys`;
const plain = { hide: true, querystring: noQuery };

export function keys(app: App, deps: ApiDeps): void {
  const list = { hide: true, querystring: pageByIdQuery, params: projectParams };
  app.get(path, { config, schema: list }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/keys`;
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      deps.keys.page(projectId, range),
    );
    return { data: page.keys.map(keyView) };
  });

  /** The only answer that contains the key itself. */
  const create = { ...plain, params: projectParams, body: newKey };
  app.post(path, { config, schema: create }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const { name, ...rest } = request.body;
    if (rest.expiresAt && rest.expiresAt <= deps.now())
      throw invalid('body.expiresAt: must be in the future');
    const operator = operatorOf(request);
    const { key, record } = await deps.keys.create({
      ...omitUndefined(rest),
      projectId,
      name,
      createdBy: operator.name,
    });
    const { operatorId } = operator;
    request.log.info({ operatorId, projectId, keyId: record.keyId }, 'key_created');
    reply.code(201);
    return { data: { key, ...keyView(record) } };
  });

  const one = { ...plain, params: keyParams };
  app.get(`${path}/:keyId`, { config, schema: one }, async (request) => ({
    data: keyView(await loadProjectKey(deps, request.params)),
  }));

  /** Revokes the key permanently. Safe to repeat. */
  app.delete(`${path}/:keyId`, { config, schema: one }, async (request) => {
    const { keyId, projectId } = await loadProjectKey(deps, request.params);
    const key = (await deps.keys.revoke(keyId)) ?? missingKey(keyId);
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, keyId }, 'key_revoked');
    return { data: keyView(key) };
  });
}

function missingKey(keyId: string): never {
  throw new Error(`key ${keyId} is missing, although keys are never deleted`);
}

function keyView({ expiresAt, revokedAt, lastUsedAt, createdAt, ...key }: KeyRecord) {
  return {
    ...key,
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
