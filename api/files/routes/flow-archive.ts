import { z } from 'zod';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { type ArchiveFormat, archiveFormats } from '../archive/archive-formats.ts';
import { archiveBody, archiveOptions, readArchive } from '../archive/receive-archive.ts';
import { archiveResponses, sendArchive } from '../archive/send-archive.ts';
import { fileEntry, filesQuery } from '../file-schema.ts';
import { changeHeaders, etagOf } from '../flow-file-set.ts';
import { replaceFlowFiles } from '../replace-flow-files.ts';

const urlOf = ({ ending }: ArchiveFormat) => `/api/v1/flows/:flowId/files.${ending}`;

const downloadSchema = (format: ArchiveFormat) => ({
  operationId: `downloadFlow${format.name}`,
  summary: `Download the files of a flow as a ${format.description}`,
  params: flowParams,
  querystring: filesQuery.pick({ prefix: true }),
  response: archiveResponses(format),
});

export function downloadFlowArchive(app: App, deps: ApiDeps): void {
  for (const format of archiveFormats) {
    const options = { config: forKeys('read'), schema: downloadSchema(format) };
    app.get(urlOf(format), options, async (request, reply) => {
      const { flowId } = flowOf(request);
      const set = await deps.flowFiles.list(flowId, omitUndefined(request.query));
      const archive = { format, entries: set.files, etag: etagOf(set.tag), name: flowId };
      return sendArchive(deps, { request, reply }, archive);
    });
  }
}

const uploadSchema = ({ name, description, mediaType }: ArchiveFormat) => ({
  operationId: `uploadFlow${name}`,
  summary: `Replace all files of a flow with those of a ${description}`,
  consumes: [mediaType],
  params: flowParams,
  querystring: noQuery,
  headers: changeHeaders,
  body: archiveBody,
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 412, 413, 415, 429, 500, 503),
  },
});

/** `scope` receives archives. */
export function uploadFlowArchive(scope: App, deps: ApiDeps): void {
  for (const format of archiveFormats) {
    const options = { schema: uploadSchema(format), ...archiveOptions(format, forKeys('run')) };
    scope.put(urlOf(format), options, async (request, reply) => {
      const flow = flowOf(request);
      const files = await readArchive(format, request.body);
      return replaceFlowFiles(deps, { flow, request, reply, files });
    });
  }
}
