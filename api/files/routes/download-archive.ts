import { createHash } from 'node:crypto';
import type { FileEntry } from '../../../core/files/file-entry.ts';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeysAndRunTokens } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { loadRun } from '../../runs/load-run.ts';
import { runParams } from '../../runs/run-schema.ts';
import { type ArchiveFormat, archiveFormats } from '../archive/archive-formats.ts';
import { archiveResponses, sendArchive } from '../archive/send-archive.ts';
import { filesQuery } from '../file-schema.ts';
import { syncFiles } from '../host-files.ts';

export function downloadArchive(app: App, deps: ApiDeps): void {
  for (const format of archiveFormats) addRoute(app, deps, format);
}

const schemaOf = (format: ArchiveFormat) => ({
  operationId: `download${format.name}`,
  summary: `Download the files of a run as a ${format.description}; current ones while it is running`,
  params: runParams,
  querystring: filesQuery.pick({ scope: true, prefix: true }),
  response: archiveResponses(format),
});

/** The whole list is read first, so that the archive has one state of the working directory. */
function addRoute(app: App, deps: ApiDeps, format: ArchiveFormat): void {
  const options = { config: forKeysAndRunTokens('read'), schema: schemaOf(format) };
  app.get(`/api/v1/runs/:runId/files.${format.ending}`, options, async (request, reply) => {
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    await syncFiles(deps, run);
    const entries = await deps.files.list(run.runId, omitUndefined(request.query));
    const archive = { format, entries, etag: etagOf(format, entries), name: run.runId };
    return sendArchive(deps, { request, reply }, archive);
  });
}

/** The same files yield the same archive. */
function etagOf({ ending }: ArchiveFormat, entries: FileEntry[]): string {
  const hash = createHash('sha256').update(ending);
  for (const { path, sha256, mode, modifiedAt } of entries) {
    hash.update(`\0${path}\0${sha256} ${mode} ${modifiedAt.getTime()}`);
  }
  return `"${hash.digest('hex')}"`;
}
