import { z } from 'zod';
import { type App, projectOf } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { linkNext, pageLimit, pageQuery } from '../pages.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { flowRecord } from '../schemas/flow.ts';
import { flowView } from '../views/flow-view.ts';

const path = '/api/v1/flows';

const schema = {
  operationId: 'listFlows',
  summary: "Flows of the key's project, oldest first",
  querystring: z.strictObject({
    ...pageQuery,
    cursor: z.uuid({ error: 'is no cursor of this list' }).optional(),
  }),
  response: { 200: enveloped(z.array(flowRecord)), ...errors(400, 401, 429, 500, 503) },
};

export function listFlows(app: App, deps: ApiDeps): void {
  app.get(path, { schema }, async (request, reply) => {
    const { cursor } = request.query;
    const limit = pageLimit(request.query);
    const page = { limit, ...(cursor === undefined ? {} : { after: cursor }) };
    const { flows, next } = await deps.flows.listByProject(projectOf(request), page);
    if (next !== null) linkNext(reply, `${deps.publicUrl}${path}`, { limit, cursor: next });
    return { data: flows.map(flowView) };
  });
}
