import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { flowRecord } from '../../flows/flow-schema.ts';
import { flowView } from '../../flows/flow-view.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, loadProjectFlow, projectPath } from '../load-resources.ts';
import { flowOfProjectParams } from '../operator-schemas.ts';

const path = `${projectPath}/flows/:flowId`;
const one = { params: flowOfProjectParams, querystring: noQuery };

const archived = z.object({ flowId: z.uuid(), archived: z.literal(true) });

const archive = {
  ...one,
  operationId: 'archiveFlow',
  summary: 'Archive a flow: it starts no more runs, and API keys get 404 for it',
  description:
    'Active runs continue. Runs, logs and files stay readable. The schedule is removed until the flow is restored.',
  response: { 200: enveloped(archived), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const restore = {
  ...one,
  operationId: 'restoreFlow',
  summary: 'Restore an archived flow, with its schedule',
  response: { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** A second call changes nothing. */
export function archiving(app: App, deps: ApiDeps): void {
  app.delete(path, { config, schema: archive }, async (request) => {
    const { flowId } = await loadProjectFlow(deps, request.params);
    await setArchived(deps, request, { ...request.params, isArchived: true });
    return { data: { flowId, archived: true as const } };
  });

  app.post(`${path}/restore`, { config, schema: restore }, async (request) => {
    await loadProjectFlow(deps, request.params);
    await setArchived(deps, request, { ...request.params, isArchived: false });
    return { data: flowView(await loadProjectFlow(deps, request.params)) };
  });
}

async function setArchived(
  deps: Pick<ApiDeps, 'audit'>,
  request: FastifyRequest,
  change: { projectId: string; flowId: string; isArchived: boolean },
): Promise<void> {
  const { projectId, flowId, isArchived } = change;
  const action = isArchived ? 'flow_archived' : 'flow_restored';
  const isChanged = await recordChange(deps, request, (on) =>
    on.setArchived({ projectId, flowId }, isArchived),
  );
  const { operatorId } = operatorOf(request);
  if (isChanged) request.log.info({ operatorId, projectId, flowId }, action);
}
