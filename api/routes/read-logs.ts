import type { StoredFrame } from '../../core/frame.ts';
import { limits } from '../../core/limits.ts';
import type { FrameQuery } from '../../systems/postgres/read-frames.ts';
import { type App, projectOf } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { loadRun } from '../load-run.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { type LogsQuery, logEntries, logsQuery, logText } from '../schemas/logs.ts';
import { runParams } from '../schemas/run.ts';
import { logEntriesJson, logTextView } from '../views/log-view.ts';

const schema = {
  operationId: 'readLogs',
  summary: 'A slice of the persisted log of a run',
  params: runParams,
  querystring: logsQuery,
  response: {
    200: enveloped(logText.or(logEntries)),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

export function readLogs(app: App, deps: ApiDeps): void {
  app.get('/api/v1/runs/:runId/logs', { schema }, async (request, reply) => {
    const { query } = request;
    // Whether it has ended is asked before the page is read: what is written in between is in it.
    const run = await loadRun(deps, request.params.runId, projectOf(request));
    const frames = await deps.frames.read(run.runId, frameQuery(query));
    const slice = { runId: run.runId, query, frames, complete: false };
    slice.complete =
      (await isLast(deps, slice)) && (query.order === 'desc' || run.endedAt !== null);
    if (query.format === 'text') return { data: logTextView(slice) };
    reply.type('application/json; charset=utf-8');
    return reply.send(logEntriesJson(slice) as never); // the text of what the schema describes
  });
}

/** A page ends by its count or by its size, so only the next one tells whether there is one. */
async function isLast(
  deps: Pick<ApiDeps, 'frames'>,
  { runId, query, frames }: { runId: string; query: LogsQuery; frames: StoredFrame[] },
): Promise<boolean> {
  const last = frames.at(-1);
  if (last === undefined) return true;
  const from = query.order === 'asc' ? { afterSeq: last.seq } : { beforeSeq: last.seq };
  const next = await deps.frames.read(runId, { ...frameQuery(query), ...from, limit: 1 });
  return next.length === 0;
}

function frameQuery(query: LogsQuery): FrameQuery {
  const channel = query.format === 'text' ? 'output' : query.channel;
  return {
    ...(query.afterSeq === undefined ? {} : { afterSeq: query.afterSeq }),
    ...(query.beforeSeq === undefined ? {} : { beforeSeq: query.beforeSeq }),
    ...(channel === 'all' ? {} : { channel }),
    limit: query.limit ?? limits.logPageDefault,
    order: query.order,
    maxBytes: limits.logPageMaxBytes,
  };
}
