import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type Access, type App, accessOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { decodeRunCursor, encodeRunCursor } from '../run-cursor.ts';
import { type RunRecord, runRecord } from '../run-schema.ts';
import { runView } from '../run-view.ts';
import { type RunListQuery, runListQuery } from './run-list-schema.ts';

const path = '/api/v1/runs';

const schema = {
  operationId: 'listRuns',
  summary: "Runs of the key's project, latest first",
  querystring: runListQuery,
  response: { 200: enveloped(z.array(runRecord)), ...errors(400, 401, 403, 429, 500, 503) },
};

const config = { ...forKeys('read'), answerMaxBytes: limits.page.runsMaxBytes };

export function listRuns(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema }, async (request, reply) =>
    answerRuns(deps, reply, {
      access: accessOf(request),
      apiUrl: apiUrlOf(request, deps),
      query: request.query,
    }),
  );
}

/** One page of runs, with a link to the next one. */
export async function answerRuns(
  deps: Pick<ApiDeps, 'runs'>,
  reply: FastifyReply,
  { access, apiUrl, query }: { access: Access; apiUrl: string; query: RunListQuery },
): Promise<{ data: RunRecord[] }> {
  const limit = pageLimit(query);
  const { projectId, flowIds } = access;
  const { runs, next } = await deps.runs.list(projectId, {
    filter: { ...query, labels: query.label, flowIds },
    limit,
    maxBytes: limits.page.runsMaxBytes,
    after: decodeRunCursor(query.cursor),
  });
  if (next !== null) {
    const nextQuery = { ...asQuery(query), limit, cursor: encodeRunCursor(next) };
    linkNext(reply, `${apiUrl}/runs`, nextQuery);
  }
  return { data: runs.map((run) => runView(run, apiUrl)) };
}

function asQuery({ label, createdAfter, createdBefore, ...rest }: RunListQuery) {
  return {
    ...rest,
    label: label?.map(([key, value]) => `${key}:${value}`),
    createdAfter: createdAfter?.toISOString(),
    createdBefore: createdBefore?.toISOString(),
  };
}
