import { z } from 'zod';
import { type App, accessOf } from '../../app-types.ts';
import { forRunCallers } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { fetchFile } from '../host-files.ts';
import { checkedPath, fileResponses, sendFile } from '../send-file.ts';

const schema = {
  operationId: 'downloadFile',
  summary: 'Download one file of a run',
  params: runParams.extend({ '*': z.string() }),
  querystring: noQuery,
  response: fileResponses,
};

export function downloadFile(app: App, deps: ApiDeps): void {
  app.get(
    '/api/v1/runs/:runId/files/*',
    { config: forRunCallers('read'), schema },
    async (request, reply) => {
      const path = checkedPath(request.params['*']);
      const run = await loadRun(deps, request.params.runId, accessOf(request));
      const file = await fetchFile(deps, run, path);
      if (file === null) throw notFound('File');

      return sendFile(request, reply, { file, blobs: deps.blobs });
    },
  );
}
