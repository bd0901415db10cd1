import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { spendLimits } from '../../../core/metering/spend-limits.ts';
import type { SpendQuery } from '../../../systems/postgres/runs/spend-store.ts';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { attachmentHeaders } from '../../files/attachment-headers.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { config, loadProject, projectPath, projectsPath } from '../load-resources.ts';
import { projectParams } from '../operator-schemas.ts';
import { spendCsvHead, spendCsvRow } from './spend-csv.ts';
import { type SpendRequest, selectionOf, spendQuery, spendReport } from './spend-schema.ts';
import { decodeSpendCursor, encodeSpendCursor, groupView, spendView } from './spend-view.ts';

const mediaType = 'text/csv';
const csv = z.custom<Readable>().meta({ type: 'string', contentMediaType: mediaType });

const schema = {
  operationId: 'readSpend',
  summary: "A project's spend on model calls, highest cost first; days in order",
  params: projectParams,
  querystring: spendQuery,
  response: {
    200: {
      content: {
        'application/json': { schema: enveloped(spendReport) },
        [mediaType]: { schema: csv },
      },
    },
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

/** Reads the ledger's sums per day, never its calls. */
export function spend(app: App, deps: ApiDeps): void {
  app.get(`${projectPath}/spend`, { config, schema }, async (request, reply) => {
    const { projectId } = await loadProject(deps, request.params);
    const { limit, cursor } = request.query;
    const selection = selectionOf(request.query, deps.now());
    if (selection === null) throw invalid('query.from: must not be after query.to');
    const ofProject = { ...selection, projectId };
    if (isCsv(request)) {
      if (limit !== undefined || cursor !== undefined)
        throw invalid('query: CSV has all groups. Omit limit and cursor.');
      return sendCsv(deps, reply, ofProject);
    }
    const perPage = pageLimit(request.query);
    const after = decodeSpendCursor(cursor);
    const range = { order: 'cost', limit: perPage, ...(after && { after }) } as const;
    const { total, groups, next } = await deps.spend.page({ ...ofProject, ...range });
    if (next !== null) {
      const query = { ...selection, limit: perPage, cursor: encodeSpendCursor(next) };
      linkNext(reply, `${deps.publicUrl}${projectsPath}/${projectId}/spend`, query);
    }
    const shown = groups.map((group) => groupView(group, selection.by));
    return { data: { ...selection, total: spendView(total), groups: shown } };
  });
}

type SpendSelection = Omit<SpendQuery, 'order' | 'limit' | 'after'>;

function isCsv({ query, headers }: FastifyRequest & { query: SpendRequest }): boolean {
  if (query.format !== undefined) return query.format === 'csv';
  return /^\s*text\/csv\s*(;|$)/i.test(headers.accept ?? '');
}

function sendCsv(
  deps: Pick<ApiDeps, 'spend'>,
  reply: FastifyReply,
  selection: SpendSelection,
): FastifyReply {
  const { projectId, by, from, to } = selection;
  const name = `spend-${projectId}-by-${by}-${from}-${to}.csv`;
  reply.headers({ ...attachmentHeaders(name), 'content-type': `${mediaType}; charset=utf-8` });
  return reply.send(Readable.from(linesOf(deps, selection), { objectMode: false }));
}

/** Reads page by page, in an order that new calls do not change. */
async function* linesOf(
  deps: Pick<ApiDeps, 'spend'>,
  selection: SpendSelection,
): AsyncGenerator<string> {
  yield spendCsvHead(selection.by);
  const range = { order: 'group', limit: spendLimits.csvPageGroups } as const;
  for (let after = {}; ; ) {
    const page = await deps.spend.page({ ...selection, ...range, ...after });
    yield page.groups.map((group) => spendCsvRow(groupView(group, selection.by))).join('');
    if (page.next === null) return;
    after = { after: page.next };
  }
}
