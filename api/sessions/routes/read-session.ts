import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadSession } from '../load-session.ts';
import { sessionParams, sessionWithFiles } from '../session-schema.ts';
import { sessionView } from '../session-view.ts';

const schema = {
  operationId: 'readSession',
  summary: 'Current state of a session',
  params: sessionParams,
  querystring: noQuery,
  response: { 200: enveloped(sessionWithFiles), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

export function readSession(app: App, deps: ApiDeps): void {
  app.get(
    '/api/v1/flows/:flowId/sessions/:sessionId',
    { config: forKeys('read'), schema },
    async (request) => {
      const session = await loadSession(deps, request, request.params.sessionId);
      const files = await deps.runs.findStoredFiles(session.run.runId);
      return { data: { ...sessionView(session, apiUrlOf(request, deps)), files } };
    },
  );
}
