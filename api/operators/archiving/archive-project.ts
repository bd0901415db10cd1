import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, loadProject, projectPath } from '../load-resources.ts';
import { projectRecord } from '../operator-records.ts';
import { projectParams } from '../operator-schemas.ts';
import { projectView } from '../projects.ts';

const one = { params: projectParams, querystring: noQuery };
const failures = errors(400, 401, 403, 404, 429, 500, 503);
const archived = z.object({ projectId: z.string(), archived: z.literal(true) });

const archive = {
  ...one,
  operationId: 'archiveProject',
  summary: 'Archive a project: it accepts no runs, sessions or messages',
  description:
    'Active runs and turns continue. Everything stays readable, also with the keys of the project. Schedules are removed until the project is restored.',
  response: { 200: enveloped(archived), ...failures },
};

const restore = {
  ...one,
  operationId: 'restoreProject',
  summary: 'Restore an archived project, with its schedules',
  response: { 200: enveloped(projectRecord), ...failures },
};

/** A second call changes nothing. */
export function projectArchiving(app: App, deps: ApiDeps): void {
  app.delete(projectPath, { config, schema: archive }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    await setArchived(deps, request, { projectId, isArchived: true });
    return { data: { projectId, archived: true as const } };
  });

  app.post(`${projectPath}/restore`, { config, schema: restore }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    await setArchived(deps, request, { projectId, isArchived: false });
    return { data: projectView(await loadProject(deps, request.params)) };
  });
}

async function setArchived(
  deps: Pick<ApiDeps, 'audit'>,
  request: FastifyRequest,
  { projectId, isArchived }: { projectId: string; isArchived: boolean },
): Promise<void> {
  const isChanged = await recordChange(deps, request, (on) =>
    on.setProjectArchived(projectId, isArchived),
  );
  const { operatorId } = operatorOf(request);
  const action = isArchived ? 'project_archived' : 'project_restored';
  if (isChanged) request.log.info({ operatorId, projectId }, action);
}
