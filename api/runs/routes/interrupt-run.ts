import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import type { Run } from '../../../core/runs/run.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeysAndRunTokens } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { recordChange } from '../../operators/audit/record-change.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadRun } from '../load-run.ts';
import { requestEnd } from '../request-end.ts';
import { noQuery, runParams, runRecord } from '../run-schema.ts';
import { runView } from '../run-view.ts';
import type { WorkflowClient } from '../workflow-client.ts';

const schema = {
  operationId: 'interruptRun',
  summary: 'Interrupt the current turn of a session, or end a plain run',
  description:
    'In a session the current turn ends, and queued messages are processed as usual. Between two turns the call has no effect.',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({}),
  response: { 200: enveloped(runRecord), ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
};

const config = forKeysAndRunTokens('run', 'chat');

/**
 * The turn to interrupt is determined here: when the signal reaches the host, another one may have
 * started.
 */
export function interruptRun(app: App, deps: ApiDeps, workflows: WorkflowClient): void {
  app.post('/api/v1/runs/:runId/interrupt', { config, schema }, async (request) => {
    const found = await loadRun(deps, request.params.runId, accessOf(request));
    if (found.sessionId !== null) {
      const messageId = await deps.messages.currentMessage(found.runId);
      request.log.info({ runId: found.runId, messageId }, 'turn_interrupt_requested');
      if (messageId !== null) {
        await recordInterrupt(deps, request, found);
        await workflows.interrupt(found, messageId);
      }
      return { data: runView(found, apiUrlOf(request, deps)) };
    }
    const run = await requestEnd(
      { runs: deps.runs, workflows },
      { request, run: found },
      {
        cause: 'interrupted_by_api',
        graceSeconds: limits.run.stopGraceDefaultSeconds,
      },
    );
    return { data: runView(run, apiUrlOf(request, deps)) };
  });
}

/** Before the signal, which stores nothing. So an interrupt by an operator is always recorded. */
async function recordInterrupt(
  deps: Pick<ApiDeps, 'audit'>,
  request: FastifyRequest,
  { projectId, runId }: Run,
): Promise<void> {
  if (request.operator === null) return;
  const object = { projectId, objectId: runId, fieldsBefore: [], fieldsAfter: [] };
  await recordChange(deps, request, (on) =>
    on.record({ action: 'interrupt_requested', ...object }),
  );
}
