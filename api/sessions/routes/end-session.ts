import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { requestEnd } from '../../runs/request-end.ts';
import { noQuery } from '../../runs/run-schema.ts';
import type { WorkflowClient } from '../../runs/workflow-client.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadSession } from '../load-session.ts';
import { endedSession, sessionParams } from '../session-schema.ts';

const schema = {
  operationId: 'endSession',
  summary: 'End a session and keep its log and files',
  params: sessionParams,
  querystring: noQuery,
  response: { 200: enveloped(endedSession), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** Safe to repeat. */
export function endSession(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  app.delete(
    '/api/v1/flows/:flowId/sessions/:sessionId',
    { config: forKeys('chat'), schema },
    async (request) => {
      const { run } = await loadSession(deps, request, request.params.sessionId);
      await requestEnd(
        { runs: deps.runs, workflows },
        { request, run },
        {
          cause: 'stopped_by_api',
          graceSeconds: limits.run.stopGraceDefaultSeconds,
        },
      );
      const { sessionId } = request.params;
      return { data: { sessionId, runId: run.runId, ended: true as const } };
    },
  );
}
