import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type App, projectOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { loadRun } from '../../runs/load-run.ts';
import { noQuery, runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { addFiles } from '../add-files.ts';
import { readTar } from '../archive/read-tar.ts';
import { installArchiveBody, unzip } from '../archive/receive-archive.ts';
import { fileEntry } from '../file-schema.ts';
import { fileView } from '../file-view.ts';
import { checkFiles } from '../input-files.ts';

interface Format {
  operationId: string;
  summary: string;
  ending: string;
  mediaType: string;
  isCompressed: boolean;
}

const tar: Format = {
  operationId: 'uploadArchive',
  summary: 'Add the files of a tar archive to a run that has not ended',
  ending: 'tar',
  mediaType: 'application/x-tar',
  isCompressed: false,
};

const compressedTar: Format = {
  operationId: 'uploadCompressedArchive',
  summary: 'Add the files of a compressed tar archive to a run that has not ended',
  ending: 'tar.gz',
  mediaType: 'application/gzip',
  isCompressed: true,
};

export function uploadArchive(app: App, deps: ApiDeps): void {
  void app.register(async (scope: App) => {
    installArchiveBody(scope);
    for (const format of [tar, compressedTar]) addRoute(scope, deps, format);
  });
}

const schemaOf = ({ operationId, summary, mediaType }: Format) => ({
  operationId,
  summary,
  consumes: [mediaType],
  params: runParams,
  querystring: noQuery,
  body: z.custom<Buffer>().meta({ type: 'string', format: 'binary' }),
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
});

/** Like a request with the same files as JSON, with the same limits. */
function addRoute(scope: App, deps: ApiDeps, format: Format): void {
  const options = {
    schema: schemaOf(format),
    bodyLimit: limits.http.archiveMaxBytes,
    config: {
      ...forKeys,
      ...(format.isCompressed ? { unpackedMaxBytes: limits.http.archiveMaxBytes } : {}),
    },
  };
  scope.put(`/api/v1/runs/:runId/files.${format.ending}`, options, async (request) => {
    const run = await loadRun(deps, request.params.runId, projectOf(request));
    if (!Buffer.isBuffer(request.body)) throw invalid('body: must be an archive');
    const files = readTar(format.isCompressed ? await unzip(request.body) : request.body);
    if (files.length === 0) throw invalid('body: the archive must have a file');
    checkFiles(files, 'body');
    const { files: added, arePending } = await addFiles(deps, run, files);
    request.log.info({ runId: run.runId, files: files.length, arePending }, 'files_injected');
    const modifiedAt = deps.now();
    return { data: added.map((file) => fileView({ ...file, modifiedAt })) };
  });
}
