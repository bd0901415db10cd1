import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { type App, callerName } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { fileEntry, filesQuery } from '../file-schema.ts';
import { fileView } from '../file-view.ts';
import { changeError, changeHeaders, etagOf, requiredTags, setTag } from '../flow-file-set.ts';
import { inputFiles } from '../input-file-schema.ts';
import { decodeFiles } from '../input-files.ts';
import { isNotModified } from '../not-modified.ts';
import { replaceFlowFiles } from '../replace-flow-files.ts';

const path = '/api/v1/flows/:flowId/files';

export function flowFiles(app: App, deps: ApiDeps): void {
  addList(app, deps);
  addReplacement(app, deps);
  addDeletion(app, deps);
}

const listSchema = {
  operationId: 'listFlowFiles',
  summary: 'List the files of a flow by path; new runs start with them',
  params: flowParams,
  querystring: filesQuery.omit({ scope: true }),
  response: {
    200: enveloped(z.array(fileEntry)),
    304: z.unknown(),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

function addList(app: App, deps: ApiDeps): void {
  app.get(path, { config: forKeys('read'), schema: listSchema }, async (request, reply) => {
    const { flowId } = flowOf(request);
    const { prefix, cursor: after } = request.query;
    const limit = pageLimit(request.query);
    const query = { ...omitUndefined({ prefix, after }), limit: limit + 1 };
    const { tag, files: found } = await deps.flowFiles.list(flowId, query);
    setTag(reply, tag);
    if (isNotModified(request, etagOf(tag))) return reply.code(304).send(null);

    const files = found.slice(0, limit);
    const last = files.at(-1);
    if (found.length > limit && last !== undefined) {
      const next = { limit, prefix, cursor: last.path };
      linkNext(reply, `${apiUrlOf(request, deps)}/flows/${flowId}/files`, next);
    }
    return { data: files.map(fileView) };
  });
}

const replaceSchema = {
  operationId: 'replaceFlowFiles',
  summary: 'Replace all files of a flow; active runs keep theirs',
  params: flowParams,
  querystring: noQuery,
  headers: changeHeaders,
  body: z.strictObject({ files: inputFiles }),
  response: {
    200: enveloped(z.array(fileEntry)),
    ...errors(400, 401, 403, 404, 412, 413, 415, 429, 500, 503),
  },
};

function addReplacement(app: App, deps: ApiDeps): void {
  const bodyLimit = limits.http.largeBodyMaxBytes;
  const options = { config: forKeys('run'), schema: replaceSchema, bodyLimit };
  app.put(path, options, async (request, reply) => {
    const flow = flowOf(request);
    const files = decodeFiles(request.body.files);
    return replaceFlowFiles(deps, { flow, request, reply, files });
  });
}

const deleteSchema = {
  operationId: 'deleteFlowFiles',
  summary: 'Delete all files of a flow; active runs keep theirs',
  params: flowParams,
  querystring: noQuery,
  headers: changeHeaders,
  response: {
    200: enveloped(z.object({ flowId: z.uuid(), deleted: z.literal(true) })),
    ...errors(400, 401, 403, 404, 412, 429, 500, 503),
  },
};

function addDeletion(app: App, deps: ApiDeps): void {
  app.delete(path, { config: forKeys('run'), schema: deleteSchema }, async (request, reply) => {
    const { flowId } = flowOf(request);
    const change = await deps.flowFiles.replace(flowId, [], {
      tags: requiredTags(request),
      author: authorOf(request),
      changedBy: callerName(request),
    });
    if (change.outcome !== 'changed') throw changeError(change.outcome);
    setTag(reply, change.tag);
    request.log.info({ flowId }, 'flow_files_deleted');
    return { data: { flowId, deleted: true as const } };
  });
}
