import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Project } from '../../systems/postgres/accounts/project-store.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { recordChange } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import { config, loadProject, projectPath } from './load-resources.ts';
import { settingsRecord } from './operator-records.ts';
import { projectParams, settingsPatch } from './operator-schemas.ts';

const plain = { params: projectParams, querystring: noQuery };

const readSettings = {
  ...plain,
  operationId: 'readSettings',
  summary: 'The limits and the model of a project',
  response: { 200: enveloped(settingsRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const change = {
  ...plain,
  operationId: 'changeSettings',
  summary: 'Change the limits or the model of a project',
  body: settingsPatch,
  response: { 200: enveloped(settingsRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** A project's limits and model. */
export function settings(app: App, deps: ApiDeps): void {
  const { projects } = deps;

  app.get(`${projectPath}/settings`, { config, schema: readSettings }, async (request) =>
    settingsOf(await loadProject(deps, request.params)),
  );

  app.patch(`${projectPath}/settings`, { config, schema: change }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    const changes = omitUndefined(request.body);
    const after = await recordChange(deps, request, (on) => on.changeSettings(projectId, changes));
    if (after === null)
      throw new Error(`project ${projectId} is missing, although projects are never deleted`);
    logChange(request, Object.keys(changes).join());
    return settingsOf(after);
  });

  /** The model's key is write-only. */
  async function settingsOf({ createdAt: _created, archivedAt: _archived, ...project }: Project) {
    const model = await projects.readModel(project.projectId);
    return { data: { ...project, model: model && { baseUrl: model.baseUrl } } };
  }
}

type Changing = Parameters<typeof operatorOf>[0];

/** Logs the names of the changed fields, never their values. */
export function logChange(request: Changing, fields: string): void {
  const { operatorId } = operatorOf(request);
  const { projectId } = request.params as { projectId: string }; // a path parameter of its routes
  request.log.info({ operatorId, projectId, fields }, 'settings_changed');
}
