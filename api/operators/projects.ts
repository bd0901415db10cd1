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
import { pageQuery } from '../schemas/page-query.ts';
import { matching } from '../schemas/text.ts';
import { operatorOf } from './authenticate-operator.ts';
import { config, loadProject, projectPath, projectsPath } from './load-resources.ts';
import { newProject, projectParams } from './operator-schemas.ts';

const listQuery = z.strictObject({ ...pageQuery, cursor: matching(projectIdRule).optional() });

export function projects(app: App, deps: ApiDeps): void {
  const list = { hide: true, querystring: listQuery };
  app.get(projectsPath, { config, schema: list }, async (request, reply) => {
    const url = `${deps.publicUrl}${projectsPath}`;
    const page = await readPage(reply, { url, query: request.query }, deps.projects.page);
    return { data: page.projects.map(projectView) };
  });

  const create = { hide: true, querystring: noQuery, body: newProject };
  app.post(projectsPath, { config, schema: create }, async (request, reply) => {
    const { projectId, name = projectId, ...bounds } = request.body;
    const project = await deps.projects.create({ ...omitUndefined(bounds), projectId, name });
    if (project === null) throw invalid('body.projectId: is already in use');
    request.log.info({ operatorId: operatorOf(request).operatorId, projectId }, 'project_created');
    const at = `${projectsPath}/${projectId}`;
    reply.code(201).header('location', publicPath(deps.publicUrl, at));
    return { data: projectView(project) };
  });

  const read = { hide: true, querystring: noQuery, params: projectParams };
  app.get(projectPath, { config, schema: read }, async (request) => ({
    data: projectView(await loadProject(deps, request.params)),
  }));
}

function projectView({ createdAt, ...project }: Project) {
  return { ...project, createdAt: createdAt.toISOString() };
}
