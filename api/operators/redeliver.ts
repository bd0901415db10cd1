import type { FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { recordChange } from './audit/record-change.ts';
import { operatorOf } from './identify-operator.ts';
import { config, loadProjectRun, projectPath } from './load-resources.ts';
import { redelivery } from './operator-records.ts';
import { runOfProjectParams } from './operator-schemas.ts';

const schema = {
  operationId: 'redeliverWebhook',
  summary: 'Send the webhook of a run again',
  params: runOfProjectParams,
  querystring: noQuery,
  response: { 202: enveloped(redelivery), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/**
 * Sends the webhook again: the same body and URL, signed with the current secret, up to four
 * attempts. The redelivery is stored before it is started: if this process cannot start it, a
 * worker's reconciler does.
 */
export function redeliver(app: App, deps: ApiDeps): void {
  const url = `${projectPath}/runs/:runId/webhook/redeliver`;
  app.post(url, { config, schema }, async (request, reply) => {
    const { runId, projectId } = await loadProjectRun(deps, request.params);
    const delivery = await startNext(deps, request, { projectId, runId });
    if (delivery === null) throw invalid('The run has no webhook that was delivered or dropped.');
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, runId, delivery }, 'webhook_redelivered');
    reply.code(202);
    return { data: { runId, delivery } };
  });
}

/** Skips delivery numbers that were used before a restore lost them, and records one redelivery. */
async function startNext(
  { webhooks, startWebhook, audit }: Pick<ApiDeps, 'webhooks' | 'startWebhook' | 'audit'>,
  request: FastifyRequest,
  { projectId, runId }: { projectId: string; runId: string },
): Promise<number | null> {
  const { log } = request;
  for (let isFirst = true; ; isFirst = false) {
    const delivery = await recordChange({ audit }, request, async (on) => {
      const claimed = await on.webhooks.claimRedelivery(runId);
      const object = { projectId, objectId: runId, fieldsBefore: [], fieldsAfter: [] };
      if (claimed !== null && isFirst)
        await on.record({ action: 'webhook_redelivered', ...object });
      return claimed;
    });
    if (delivery === null) return null;
    try {
      const outcome = await startWebhook({ runId, firstAttempt: 1, delivery });
      if (outcome === 'already') continue;
      await webhooks.markRedeliveryStarted(runId, delivery);
    } catch (err) {
      log.warn({ err, runId, delivery }, 'redelivery_start_deferred');
    }
    return delivery;
  }
}
