import type { StoredFrame } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import type { FrameQuery } from '../../../systems/postgres/log/read-frames.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forRunCallers } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { runParams } from '../run-schema.ts';
import { type LogsQuery, logEntries, logsQuery, logText } from './log-schema.ts';
import { logEntriesJson, logTextView } from './log-view.ts';

const schema = {
  operationId: 'readLogs',
  summary: 'Read a slice of the persisted log of a run',
  params: runParams,
  querystring: logsQuery,
  response: {
    200: enveloped(logText.or(logEntries)),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

const config = { ...forRunCallers('read'), answerMaxBytes: limits.page.logMaxBytes };

export function readLogs(app: App, deps: ApiDeps): void {
  app.get('/api/v1/runs/:runId/logs', { config, schema }, async (request, reply) => {
    const { query } = request;
    // Read before the page: a run that has ended by now adds no frames after it.
    const run = await loadRun(deps, request.params.runId, accessOf(request));
    const { frames, isLast } = await readLogPage(deps, run.runId, query);
    const complete = isLast && (query.order === 'desc' || run.endedAt !== null);
    const slice = { runId: run.runId, query, frames, complete };
    if (query.format === 'text') return { data: logTextView(slice) };
    reply.type('application/json; charset=utf-8');
    return reply.send(logEntriesJson(slice) as never); // JSON text of the described schema
  });
}

interface LogPage {
  frames: StoredFrame[];
  /** No frame follows. False if a page was cut by its size, even if it is the last one. */
  isLast: boolean;
}

async function readLogPage(
  deps: Pick<ApiDeps, 'frames'>,
  runId: string,
  query: LogsQuery,
): Promise<LogPage> {
  const limit = query.limit ?? limits.page.logDefaultEntries;
  const found = await deps.frames.read(runId, { ...frameQuery(query), limit: limit + 1 });
  const bytes = found.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
  const isLast = found.length <= limit && bytes < limits.page.logMaxBytes;
  return { frames: found.slice(0, limit), isLast };
}

function frameQuery(query: LogsQuery): Omit<FrameQuery, 'limit'> {
  const channel = query.format === 'text' ? 'output' : query.channel;
  return {
    ...(query.afterSeq === undefined ? {} : { afterSeq: query.afterSeq }),
    ...(query.beforeSeq === undefined ? {} : { beforeSeq: query.beforeSeq }),
    ...(channel === 'all' ? {} : { channel }),
    order: query.order,
    maxBytes: limits.page.logMaxBytes,
  };
}
