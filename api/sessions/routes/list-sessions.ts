import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { flowOf } from '../../runs/load-run.ts';
import { decodeRunCursor, encodeRunCursor } from '../../runs/run-cursor.ts';
import { flowParams } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { type SessionsQuery, sessionRecord, sessionsQuery } from '../session-schema.ts';
import { sessionView } from '../session-view.ts';

const schema = {
  operationId: 'listSessions',
  summary: 'Sessions of a flow, latest first',
  params: flowParams,
  querystring: sessionsQuery,
  response: {
    200: enveloped(z.array(sessionRecord)),
    ...errors(400, 401, 403, 404, 429, 500, 503),
  },
};

const config = { ...forKeys('read'), answerMaxBytes: limits.page.runsMaxBytes };

export function listSessions(app: App, deps: ApiDeps): void {
  app.get('/api/v1/flows/:flowId/sessions', { config, schema }, async (request, reply) => {
    const { flowId } = flowOf(request);
    const { cursor, label: labels, ...filter } = request.query;
    const limit = pageLimit(filter);
    const apiUrl = apiUrlOf(request, deps);
    const { sessions, next } = await deps.sessions.list({
      ...{ ...filter, labels, flowId, limit },
      maxBytes: limits.page.runsMaxBytes,
      after: decodeRunCursor(cursor),
    });
    if (next !== null) {
      const nextQuery = { ...asQuery(request.query), limit, cursor: encodeRunCursor(next) };
      linkNext(reply, `${apiUrl}/flows/${flowId}/sessions`, nextQuery);
    }
    return { data: sessions.map((session) => sessionView(session, apiUrl)) };
  });
}

function asQuery({ status, ended, label }: SessionsQuery) {
  return {
    status,
    ended: ended === undefined ? undefined : String(ended),
    label: label?.map(([key, value]) => `${key}:${value}`),
  };
}
