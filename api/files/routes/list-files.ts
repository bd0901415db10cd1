import { z } from 'zod';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forRunCallers } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { loadRun } from '../../runs/load-run.ts';
import { runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { fileEntry, filesQuery } from '../file-schema.ts';
import { fileView } from '../file-view.ts';
import { syncFiles } from '../host-files.ts';

const schema = {
  operationId: 'listFiles',
  summary: 'List the files of a run by path; current ones while it is running',
  params: runParams,
  querystring: filesQuery,
  response: { 200: enveloped(z.array(fileEntry)), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const config = forRunCallers('read');

export function listFiles(app: App, deps: ApiDeps): void {
  app.get('/api/v1/runs/:runId/files', { config, schema }, async (request, reply) => {
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    const { scope, prefix, cursor: after } = request.query;
    if (after === undefined) await syncFiles(deps, run);
    const limit = pageLimit(request.query);
    const listQuery = { ...omitUndefined({ scope, prefix, after }), limit: limit + 1 };
    const found = await deps.files.list(run.runId, listQuery);

    const files = found.slice(0, limit);
    const last = files.at(-1);
    if (found.length > limit && last !== undefined) {
      const next = { limit, scope, prefix, cursor: last.path };
      linkNext(reply, `${apiUrlOf(request, deps)}/runs/${run.runId}/files`, next);
    }
    return { data: files.map(fileView) };
  });
}
