import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { z } from 'zod';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { type App, projectOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { loadRun } from '../../runs/load-run.ts';
import { runParams } from '../../runs/run-schema.ts';
import { errors } from '../../schemas/envelope.ts';
import { tarBytes, tarFiles } from '../archive/tar-files.ts';
import { attachmentHeaders } from '../attachment-headers.ts';
import { filesQuery } from '../file-schema.ts';
import { syncFiles } from '../host-files.ts';
import { isNotModified } from '../not-modified.ts';

interface Format {
  operationId: string;
  summary: string;
  ending: string;
  mediaType: string;
  isCompressed: boolean;
}

const tar: Format = {
  operationId: 'downloadArchive',
  summary: 'Download the files of a run as a tar archive; current ones while it is running',
  ending: 'tar',
  mediaType: 'application/x-tar',
  isCompressed: false,
};

const compressedTar: Format = {
  operationId: 'downloadCompressedArchive',
  summary: 'Download the files of a run as a compressed tar archive',
  ending: 'tar.gz',
  mediaType: 'application/gzip',
  isCompressed: true,
};

export function downloadArchive(app: App, deps: ApiDeps): void {
  for (const format of [tar, compressedTar]) addRoute(app, deps, format);
}

const schemaOf = ({ operationId, summary, mediaType }: Format) => ({
  operationId,
  summary,
  params: runParams,
  querystring: filesQuery.pick({ scope: true, prefix: true }),
  response: {
    200: z
      .custom<Readable>()
      .meta({ type: 'string', format: 'binary', contentMediaType: mediaType }),
    304: z.unknown(),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
});

/** The whole list is read first, so that the archive has one state of the working directory. */
function addRoute(app: App, deps: ApiDeps, format: Format): void {
  const schema = schemaOf(format);
  app.get(
    `/api/v1/runs/:runId/files.${format.ending}`,
    { config: forKeys, schema },
    async (request, reply) => {
      const run = await loadRun(deps, request.params.runId, projectOf(request));
      await syncFiles(deps, run);
      const entries = await deps.files.list(run.runId, omitUndefined(request.query));
      request.heldBytes = entries.length * entryBytes;

      const etag = etagOf(format, entries);
      reply.headers({
        ...attachmentHeaders(`${run.runId}.${format.ending}`),
        'content-type': format.mediaType,
        etag,
      });
      if (isNotModified(request, etag)) return reply.code(304).send(null);
      if (!format.isCompressed) reply.header('content-length', tarBytes(entries));
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      return reply.send(archiveOf(deps, format, entries));
    },
  );
}

/** An estimate of an entry in memory: typical paths are far shorter. */
const entryBytes = 512;

/** The same files yield the same archive. */
function etagOf({ ending }: Format, entries: FileEntry[]): string {
  const hash = createHash('sha256').update(ending);
  for (const { path, sha256, mode, modifiedAt } of entries) {
    hash.update(`\0${path}\0${sha256} ${mode} ${modifiedAt.getTime()}`);
  }
  return `"${hash.digest('hex')}"`;
}

/** Fast compression: most time is spent in a few threads that all requests share. */
function archiveOf({ blobs }: ApiDeps, { isCompressed }: Format, entries: FileEntry[]): Readable {
  const archive = Readable.from(tarFiles(blobs, entries), { objectMode: false });
  if (!isCompressed) return archive;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // An error ends both streams, and reaches the client as an incomplete answer.
  return pipeline(archive, gzip, () => undefined);
}
