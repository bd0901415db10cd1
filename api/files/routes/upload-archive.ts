import { z } from 'zod';
import { type App, accessOf, callerName } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { addFiles } from '../add-files.ts';
import { type ArchiveFormat, archiveFormats } from '../archive/archive-formats.ts';
import { archiveBody, archiveOptions, readArchive } from '../archive/receive-archive.ts';
import { fileEntry } from '../file-schema.ts';
import { fileView } from '../file-view.ts';

const schemaOf = ({ name, description, mediaType }: ArchiveFormat) => ({
  operationId: `upload${name}`,
  summary: `Add the files of a ${description} to a run that has not ended`,
  consumes: [mediaType],
  params: runParams,
  querystring: noQuery,
  body: archiveBody,
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
});

/** `scope` receives archives. The effect and limits are those of the same files as JSON. */
export function uploadArchive(scope: App, deps: ApiDeps): void {
  for (const format of archiveFormats) {
    const options = { schema: schemaOf(format), ...archiveOptions(format, forKeys('run', 'chat')) };
    scope.put(`/api/v1/runs/:runId/files.${format.ending}`, options, async (request) => {
      const access = accessOf(request);
      const changedBy = callerName(request);
      const run = await loadRun(deps, request.params.runId, access);
      const files = await readArchive(format, request.body);
      if (files.length === 0) throw invalid('body: the archive must have a file');
      const { files: added, arePending } = await addFiles(deps, run, {
        ...access,
        files,
        changedBy,
        author: authorOf(request),
      });
      request.log.info({ runId: run.runId, files: files.length, arePending }, 'files_injected');
      const modifiedAt = deps.now();
      return { data: added.map((file) => fileView({ ...file, modifiedAt })) };
    });
  }
}
