import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import type { Run } from '../../../core/runs/run.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeysAndRunTokens } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { loadRun } from '../../runs/load-run.ts';
import { runParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { attachmentHeaders } from '../attachment-headers.ts';
import { changesQuery, fileChange } from '../file-schema.ts';
import { changeView } from '../file-view.ts';
import { syncFiles } from '../host-files.ts';
import { gitPatch } from '../patch/git-patch.ts';
import { isAcceptedByGit } from '../patch/quoted-path.ts';

const mediaType = 'text/x-diff';
const patch = z.custom<Readable>().meta({ type: 'string', contentMediaType: mediaType });

const schema = {
  operationId: 'listChanges',
  summary: 'Compare the files of a run with its original files',
  params: runParams,
  querystring: changesQuery,
  response: {
    200: {
      content: {
        'application/json': { schema: enveloped(z.array(fileChange)) },
        [mediaType]: { schema: patch },
      },
    },
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

const config = forKeysAndRunTokens('read');

export function listChanges(app: App, deps: ApiDeps): void {
  app.get('/api/v1/runs/:runId/changes', { config, schema }, async (request, reply) => {
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    const { format, prefix, limit, cursor: after } = request.query;
    if (format === 'patch') {
      if (limit !== undefined || after !== undefined) {
        throw invalid('query: a patch has all changes. Omit limit and cursor.');
      }
      return sendPatch(deps, { request, reply, run, prefix });
    }
    if (after === undefined) await syncFiles(deps, run);
    const perPage = pageLimit(request.query);
    const query = { ...omitUndefined({ prefix, after }), limit: perPage + 1 };
    const found = await deps.files.listChanges(run.runId, query);

    const changes = found.slice(0, perPage);
    const last = changes.at(-1);
    if (found.length > perPage && last !== undefined) {
      const next = { limit: perPage, prefix, cursor: last.path };
      linkNext(reply, `${apiUrlOf(request, deps)}/runs/${run.runId}/changes`, next);
    }
    return { data: changes.map(changeView) };
  });
}

interface PatchRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  run: Run;
  prefix: string | undefined;
}

/** A change in memory, generously: its path has at most 512 bytes. */
const changeBytes = 1_024;

async function sendPatch(deps: ApiDeps, { request, reply, run, prefix }: PatchRequest) {
  await syncFiles(deps, run);
  const all = await deps.files.listChanges(run.runId, omitUndefined({ prefix }));
  const changes = all.filter(({ path }) => isAcceptedByGit(path));
  request.handlerBytes = changes.length * changeBytes;
  reply.headers({
    ...attachmentHeaders(`${run.runId}.patch`),
    'content-type': `${mediaType}; charset=utf-8`,
  });
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  return reply.send(Readable.from(gitPatch(deps.blobs, changes), { objectMode: false }));
}
