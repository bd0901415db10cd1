import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type App, projectOf } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { requestEnd } from '../request-end.ts';
import { noQuery, runParams, runRecord } from '../run-schema.ts';
import { runView } from '../run-view.ts';
import type { WorkflowClient } from '../workflow-client.ts';

const schema = {
  operationId: 'interruptRun',
  summary: 'Interrupt what the agent is doing; a run that is no session ends with it',
  description:
    'In a session the turn ends that goes on at that moment, and no later one; messages that wait have theirs. Between two turns nothing changes.',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({}),
  response: { 200: enveloped(runRecord), ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
};

/**
 * The only turn of a plain run is the run; a session goes on to its next. Which of a session's turns is
 * settled here: by the time that its host is told, another may have begun.
 */
export function interruptRun(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  app.post('/api/v1/runs/:runId/interrupt', { schema }, async (request) => {
    const found = await loadRun(deps, request.params.runId, projectOf(request));
    if (found.sessionId !== null) {
      const messageId = await deps.messages.currentMessage(found.runId);
      request.log.info({ runId: found.runId, messageId }, 'turn_interrupt_requested');
      if (messageId !== null) await workflows.interrupt(found, messageId);
      return { data: runView(found, deps.publicUrl) };
    }
    const run = await requestEnd({ runs: deps.runs, workflows, log: request.log }, found, {
      cause: 'interrupted_by_api',
      graceSeconds: limits.stopGraceDefaultSeconds,
    });
    return { data: runView(run, deps.publicUrl) };
  });
}
