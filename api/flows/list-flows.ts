import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { type App, accessOf } from '../app-types.ts';
import { forKeysAndAgents } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { readPage } from '../http/pagination.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { pageByIdQuery } from '../schemas/page-query.ts';
import { flowRecord } from './flow-schema.ts';
import { flowView } from './flow-view.ts';

const path = '/api/v1/flows';

const schema = {
  operationId: 'listFlows',
  summary: "Flows of the key's project, oldest first",
  querystring: pageByIdQuery,
  response: { 200: enveloped(z.array(flowRecord)), ...errors(400, 401, 403, 429, 500, 503) },
};

const maxBytes = limits.page.flowsMaxBytes;
const config = { ...forKeysAndAgents('read'), answerMaxBytes: maxBytes };

export function listFlows(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema }, async (request, reply) => {
    const { projectId, flowIds } = accessOf(request);
    const url = `${deps.publicUrl}${path}`;
    const { flows } = await readPage(reply, { url, query: request.query }, (range) =>
      deps.flows.listByProject(projectId, { ...range, maxBytes, flowIds }),
    );
    return { data: flows.map(flowView) };
  });
}
