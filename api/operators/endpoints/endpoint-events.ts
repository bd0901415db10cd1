import { z } from 'zod';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { readPage } from '../../http/pagination.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { pageByIdQuery } from '../../schemas/page-query.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, projectPath, projectsPath } from '../load-resources.ts';
import { attemptView } from '../runs.ts';
import {
  endpointParams,
  eventParams,
  eventRecord,
  eventWithAttempts,
  requestedEvent,
} from './endpoint-schema.ts';
import { eventView } from './event-view.ts';
import { loadEndpoint, loadEvent } from './load-endpoint.ts';

const path = `${projectPath}/endpoints/:endpointId`;
const requested = {
  202: enveloped(requestedEvent),
  ...errors(400, 401, 403, 404, 429, 500, 503),
};

const sendTest = {
  operationId: 'sendTestEvent',
  summary: 'Send `endpoint.test` to a webhook endpoint',
  params: endpointParams,
  querystring: noQuery,
  response: requested,
};

const list = {
  operationId: 'listEndpointEvents',
  summary: 'Events of a webhook endpoint, latest first',
  params: endpointParams,
  querystring: pageByIdQuery,
  response: { 200: enveloped(z.array(eventRecord)), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const read = {
  operationId: 'readEndpointEvent',
  summary: 'An event of a webhook endpoint, with its body and its delivery attempts',
  params: eventParams,
  querystring: noQuery,
  response: { 200: enveloped(eventWithAttempts), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const redeliver = {
  operationId: 'redeliverEvent',
  summary: 'Send an event to its webhook endpoint again',
  description: 'The same body and ID, signed with the current secret, up to four attempts.',
  params: eventParams,
  querystring: noQuery,
  response: requested,
};

/** A worker starts the delivery of an event within seconds. */
export function endpointEvents(app: App, deps: ApiDeps): void {
  const { events } = deps;

  app.post(`${path}/test`, { config, schema: sendTest }, async (request, reply) => {
    const endpoint = await loadEndpoint(deps, request.params);
    const { projectId, endpointId } = endpoint;
    const eventId = await recordChange(deps, request, (on) =>
      on.sendTestEvent(endpoint, deps.now()),
    );
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, endpointId, eventId }, 'test_event_requested');
    reply.code(202);
    return { data: { eventId, delivery: 0 } };
  });

  app.get(`${path}/events`, { config, schema: list }, async (request, reply) => {
    const { projectId, endpointId } = await loadEndpoint(deps, request.params);
    const url = `${deps.publicUrl}${projectsPath}/${projectId}/endpoints/${endpointId}/events`;
    const page = await readPage(reply, { url, query: request.query }, (range) =>
      events.page(endpointId, range),
    );
    return { data: page.events.map(eventView) };
  });

  app.get(`${path}/events/:eventId`, { config, schema: read }, async (request) => {
    const event = await loadEvent(deps, request.params);
    const attempts = await events.attempts(event.eventId);
    return { data: { ...eventView(event), deliveryAttempts: attempts.map(attemptView) } };
  });

  const redeliverPath = `${path}/events/:eventId/redeliver`;
  app.post(redeliverPath, { config, schema: redeliver }, async (request, reply) => {
    const event = await loadEvent(deps, request.params);
    const { eventId, projectId } = event;
    if (event.state === 'held')
      throw invalid('The event cannot be sent: its endpoint had no URL when it was stored.');
    const delivery = await recordChange(deps, request, (on) => on.redeliverEvent(event));
    if (delivery === null) throw invalid('The event is still being delivered. Retry later.');
    const { operatorId } = operatorOf(request);
    request.log.info({ operatorId, projectId, eventId, delivery }, 'event_redelivered');
    reply.code(202);
    return { data: { eventId, delivery } };
  });
}
