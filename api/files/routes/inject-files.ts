import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type App, accessOf, callerName } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { addFiles } from '../add-files.ts';
import { fileEntry } from '../file-schema.ts';
import { fileView } from '../file-view.ts';
import { inputFiles } from '../input-file-schema.ts';
import { decodeFiles } from '../input-files.ts';

const schema = {
  operationId: 'injectFiles',
  summary: 'Add files to the working directory of a run that has not ended',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({ files: inputFiles.min(1) }),
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

export function injectFiles(app: App, deps: ApiDeps): void {
  const url = '/api/v1/runs/:runId/files';
  const options = {
    config: forKeys('run', 'chat'),
    schema,
    bodyLimit: limits.http.largeBodyMaxBytes,
  };
  app.post(url, options, async (request) => {
    const files = decodeFiles(request.body.files);
    const access = accessOf(request);
    const changedBy = callerName(request);
    const run = await loadRun(deps, request.params.runId, access);
    const author = authorOf(request);
    const added = await addFiles(deps, run, { ...access, files, changedBy, author });
    const { arePending } = added;
    request.log.info({ runId: run.runId, files: files.length, arePending }, 'files_injected');
    const modifiedAt = deps.now();
    return { data: added.files.map((file) => fileView({ ...file, modifiedAt })) };
  });
}
