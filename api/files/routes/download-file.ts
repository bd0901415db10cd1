import { z } from 'zod';
import { checkFilePath } from '../../../core/files/file-path.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid, notFound } from '../../errors.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { errors } from '../../schemas/envelope.ts';
import { fetchFile } from '../host-files.ts';
import { fileContent, sendFile } from '../send-file.ts';

const schema = {
  operationId: 'downloadFile',
  summary: 'Download one file of a run',
  params: runParams.extend({ '*': z.string() }),
  querystring: noQuery,
  response: {
    200: fileContent,
    206: fileContent,
    304: z.unknown(),
    ...errors(400, 401, 403, 404, 416, 429, 500, 503),
  },
};

export function downloadFile(app: App, deps: ApiDeps): void {
  app.get(
    '/api/v1/runs/:runId/files/*',
    { config: forKeys('read'), schema },
    async (request, reply) => {
      const path = request.params['*'];
      const check = checkFilePath(path);
      if (!check.ok) throw invalid(`path: ${check.reason}`);
      const run = await loadRun(deps, request.params.runId, accessOf(request));
      const file = await fetchFile(deps, run, path);
      if (file === null) throw notFound('File');

      return sendFile(request, reply, { file, blobs: deps.blobs });
    },
  );
}
