import { z } from 'zod';
import { type App, callerName } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { changeError, changeHeaders, requiredTags, setTag } from '../flow-file-set.ts';
import { checkedPath, fileResponses, sendFile } from '../send-file.ts';

const url = '/api/v1/flows/:flowId/files/*';
const params = flowParams.extend({ '*': z.string() });

const downloadSchema = {
  operationId: 'downloadFlowFile',
  summary: 'Download one file of a flow',
  params,
  querystring: noQuery,
  response: fileResponses,
};

const deleteSchema = {
  operationId: 'deleteFlowFile',
  summary: 'Delete one file of a flow; active runs keep it',
  params,
  querystring: noQuery,
  headers: changeHeaders,
  response: {
    200: enveloped(z.object({ path: z.string(), deleted: z.literal(true) })),
    ...errors(400, 401, 403, 404, 412, 429, 500, 503),
  },
};

export function flowFile(app: App, deps: ApiDeps): void {
  app.get(url, { config: forKeys('read'), schema: downloadSchema }, async (request, reply) => {
    const { flowId } = flowOf(request);
    const file = await deps.flowFiles.find(flowId, checkedPath(request.params['*']));
    if (file === null) throw notFound('File');
    return sendFile(request, reply, { file, blobs: deps.blobs });
  });

  app.delete(url, { config: forKeys('run'), schema: deleteSchema }, async (request, reply) => {
    const { flowId } = flowOf(request);
    const path = checkedPath(request.params['*']);
    const change = await deps.flowFiles.delete(flowId, path, {
      tags: requiredTags(request),
      author: authorOf(request),
      changedBy: callerName(request),
    });
    if (change.outcome !== 'changed') throw changeError(change.outcome);
    setTag(reply, change.tag);
    request.log.info({ flowId }, 'flow_file_deleted');
    return { data: { path, deleted: true as const } };
  });
}
