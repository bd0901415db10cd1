import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Project } from '../../systems/postgres/accounts/project-store.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { noQuery } from '../runs/run-schema.ts';
import { operatorOf } from './authenticate-operator.ts';
import { config, loadProject, projectPath } from './load-resources.ts';
import { projectParams, settingsPatch } from './operator-schemas.ts';

const plain = { hide: true, querystring: noQuery, params: projectParams };

/** A project's limits, model and webhook secret. */
export function settings(app: App, deps: ApiDeps): void {
  const { projects } = deps;

  app.get(`${projectPath}/settings`, { config, schema: plain }, async (request) =>
    settingsOf(await loadProject(deps, request.params)),
  );

  const schema = { ...plain, body: settingsPatch };
  app.patch(`${projectPath}/settings`, { config, schema }, async (request) => {
    const before = await loadProject(deps, request.params);
    const changes = omitUndefined(request.body);
    const after = await projects.update(before.projectId, changes);
    logChange(request, Object.keys(changes).join());
    return settingsOf(after ?? before);
  });

  app.get(`${projectPath}/webhook-secret`, { config, schema: plain }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    return { data: { webhookSecret: await projects.ensureWebhookSecret(projectId) } };
  });

  app.post(`${projectPath}/webhook-secret/rotate`, { config, schema: plain }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    const webhookSecret = await projects.rotateWebhookSecret(projectId);
    logChange(request, 'webhookSecret');
    return { data: { webhookSecret } };
  });

  /** The model's key is write-only. */
  async function settingsOf({ createdAt: _createdAt, ...project }: Project) {
    const model = await projects.readModel(project.projectId);
    return { data: { ...project, model: model && { baseUrl: model.baseUrl } } };
  }
}

type Changing = Parameters<typeof operatorOf>[0];

function logChange(request: Changing, fields: string): void {
  const { operatorId } = operatorOf(request);
  const { projectId } = request.params as { projectId: string }; // a path parameter of every route here
  request.log.info({ operatorId, projectId, fields }, 'settings_changed');
}
