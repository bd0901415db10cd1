import { z } from 'zod';
import { projectIdRule } from '../../core/field-rules.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Project } from '../../systems/postgres/accounts/project-store.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { readPage } from '../http/pagination.ts';
import { publicPath } from '../http/public-path.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { pageQuery } from '../schemas/page-query.ts';
import { matching } from '../schemas/text.ts';
import { recordChange } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import { config, loadProject, projectPath, projectsPath } from './load-resources.ts';
import { projectRecord } from './operator-records.ts';
import { newProject, projectParams } from './operator-schemas.ts';

const listQuery = z.strictObject({
  ...pageQuery,
  cursor: matching(projectIdRule).optional(),
  archived: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: the archived projects instead of those in use.' }),
});

const list = {
  operationId: 'listProjects',
  summary: 'All projects that the caller can reach, oldest first',
  querystring: listQuery,
  response: { 200: enveloped(z.array(projectRecord)), ...errors(400, 401, 429, 500, 503) },
};

const create = {
  operationId: 'createProject',
  summary: 'Create a project',
  querystring: noQuery,
  body: newProject,
  response: { 201: enveloped(projectRecord), ...errors(400, 401, 403, 429, 500, 503) },
};

const read = {
  operationId: 'readProject',
  summary: 'A project',
  params: projectParams,
  querystring: noQuery,
  response: { 200: enveloped(projectRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

export function projects(app: App, deps: ApiDeps): void {
  const ofList = { ...config, listsPermittedProjects: true } as const;
  app.get(projectsPath, { config: ofList, schema: list }, async (request, reply) => {
    const url = `${deps.publicUrl}${projectsPath}`;
    const projectIds = operatorOf(request).token?.projectIds ?? null;
    const isArchived = request.query.archived === 'true';
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      deps.projects.page({ ...range, projectIds, isArchived }),
    );
    return { data: page.projects.map(projectView) };
  });

  app.post(projectsPath, { config, schema: create }, async (request, reply) => {
    const { projectId, name = projectId, ...bounds } = request.body;
    const fields = { ...omitUndefined(bounds), projectId, name };
    const project = await recordChange(deps, request, (on) => on.createProject(fields));
    if (project === null) throw invalid('body.projectId: is already in use');
    request.log.info({ operatorId: operatorOf(request).operatorId, projectId }, 'project_created');
    const at = `${projectsPath}/${projectId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: projectView(project) };
  });

  app.get(projectPath, { config, schema: read }, async (request) => ({
    data: projectView(await loadProject(deps, request.params)),
  }));
}

export function projectView({ createdAt, archivedAt, ...project }: Project) {
  return {
    ...project,
    createdAt: createdAt.toISOString(),
    archivedAt: archivedAt?.toISOString() ?? null,
  };
}
