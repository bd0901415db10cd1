import { z } from 'zod';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid, notFound } from '../../errors.ts';
import { readPage } from '../../http/pagination.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { pageByIdQuery } from '../../schemas/page-query.ts';
import { uuidLike } from '../../schemas/text.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, loadProjectRun, projectPath, projectsPath } from '../load-resources.ts';
import { runOfProjectParams } from '../operator-schemas.ts';
import { attemptView } from '../runs.ts';
import { eventRecord, eventWithAttempts, requestedEvent } from './endpoint-schema.ts';
import { eventView } from './event-view.ts';

const path = `${projectPath}/runs/:runId/webhook/events`;
const eventOfRunParams = runOfProjectParams.extend({ eventId: uuidLike() });
const refusals = errors(400, 401, 403, 404, 429, 500, 503);

const list = {
  operationId: 'listSessionEvents',
  summary: 'Events that are sent to the callback URL of a session, latest first',
  description: 'Without `session.ended`: that is the webhook of the run.',
  params: runOfProjectParams,
  querystring: pageByIdQuery,
  response: { 200: enveloped(z.array(eventRecord)), ...refusals },
};

const read = {
  operationId: 'readSessionEvent',
  summary: 'An event for the callback URL of a session, with its body and its delivery attempts',
  params: eventOfRunParams,
  querystring: noQuery,
  response: { 200: enveloped(eventWithAttempts), ...refusals },
};

const redeliver = {
  operationId: 'redeliverSessionEvent',
  summary: 'Send an event to the callback URL of its session again',
  description: 'The same body and ID, signed with the current secret, up to four attempts.',
  params: eventOfRunParams,
  querystring: noQuery,
  response: { 202: enveloped(requestedEvent), ...refusals },
};

/** A worker starts the delivery of an event within seconds. */
export function sessionEvents(app: App, deps: ApiDeps): void {
  const { events } = deps;

  app.get(path, { config, schema: list }, async (request, reply) => {
    const { projectId, runId } = await loadProjectRun(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/runs/${runId}/webhook/events`;
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      events.pageOfSession(runId, range),
    );
    return { data: page.events.map(eventView) };
  });

  app.get(`${path}/:eventId`, { config, schema: read }, async (request) => {
    const event = await loadSessionEvent(deps, request.params);
    const attempts = await events.attempts(event.eventId);
    return { data: { ...eventView(event), deliveryAttempts: attempts.map(attemptView) } };
  });

  app.post(`${path}/:eventId/redeliver`, { config, schema: redeliver }, async (request, reply) => {
    const event = await loadSessionEvent(deps, request.params);
    const delivery = await recordChange(deps, request, (on) => on.redeliverEvent(event));
    if (delivery === null) throw invalid('The event is still being delivered. Retry later.');
    const { eventId, projectId, runId } = event;
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, runId, eventId, delivery }, 'event_redelivered');
    reply.code(202);
    return { data: { eventId, delivery } };
  });
}

/** An event of another run counts as missing, and so does one for an endpoint. */
async function loadSessionEvent(
  deps: Pick<ApiDeps, 'runs' | 'events'>,
  params: { projectId: string; runId: string; eventId: string },
) {
  const { runId } = await loadProjectRun(deps, params);
  const event = await deps.events.find(params.eventId);
  if (event?.runId !== runId || event.endpointId !== null) throw notFound('Event');
  return event;
}
