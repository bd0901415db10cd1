// The changes of webhook endpoints and their events that both the API and the command line make,
// each with its entry in the audit log.

import { type AuditActor, changedFields } from '../../../core/audit/audit-entry.ts';
import { testEventBody } from '../../../core/webhook.ts';
import type { NewAuditEntry } from '../accounts/record-entry.ts';
import type { Endpoint, EndpointChanges } from './endpoint-store.ts';
import type { EventRequests } from './event-store.ts';

/** The stores of one transaction, and the function that records its changes for one actor. */
interface On {
  endpoints: EndpointChanges;
  events: EventRequests;
  record: (entry: Omit<NewAuditEntry, keyof AuditActor>) => Promise<void>;
}

type NewEndpoint = Parameters<EndpointChanges['create']>[0];
type EndpointPatch = Parameters<EndpointChanges['update']>[1];
type EndpointId = Pick<Endpoint, 'projectId' | 'endpointId'>;

export const recordedEndpointChanges = (on: On) => ({
  /** Null if the project has the maximum number of endpoints. */
  createEndpoint: (fields: NewEndpoint) => createEndpoint(on, fields),
  /** Null if there is no such endpoint. */
  changeEndpoint: (endpoint: EndpointId, patch: EndpointPatch) =>
    changeEndpoint(on, endpoint, patch),
  /** False if it was already removed. */
  removeEndpoint: (endpoint: EndpointId) => removeEndpoint(on, endpoint),
  /** Returns the ID of the event. */
  sendTestEvent: (endpoint: EndpointId, at: Date) => sendTestEvent(on, endpoint, at),
  /** Returns the number of the delivery; null while one is in progress, or if it is held. */
  redeliverEvent: (event: { projectId: string; eventId: string }) => redeliverEvent(on, event),
});

async function createEndpoint(on: On, fields: NewEndpoint): Promise<Endpoint | null> {
  const created = await on.endpoints.create(fields);
  if (created === null) return null;
  const { projectId, ...given } = fields;
  const object = { projectId, objectId: created.endpointId, ...changedFields({}, given) };
  await on.record({ action: 'endpoint_created', ...object });
  return created;
}

async function changeEndpoint(
  on: On,
  { projectId, endpointId }: EndpointId,
  patch: EndpointPatch,
): Promise<Endpoint | null> {
  const before = await on.endpoints.lock(endpointId);
  const after = await on.endpoints.update(endpointId, patch);
  if (before === null || after === null) return null;
  const object = { projectId, objectId: endpointId, ...changedFields({ ...before }, patch) };
  await on.record({ action: 'endpoint_changed', ...object });
  return after;
}

async function removeEndpoint(on: On, { projectId, endpointId }: EndpointId): Promise<boolean> {
  if (!(await on.endpoints.remove(endpointId))) return false;
  const fields = { fieldsBefore: [], fieldsAfter: ['removedAt'] };
  await on.record({ action: 'endpoint_removed', projectId, objectId: endpointId, ...fields });
  return true;
}

async function sendTestEvent(on: On, endpoint: EndpointId, at: Date): Promise<string> {
  const { projectId, endpointId } = endpoint;
  const body = testEventBody({ projectId, endpointId, at });
  const eventId = await on.events.addTest(endpointId, body);
  await on.record({ action: 'test_event_requested', projectId, objectId: eventId, ...noFields });
  return eventId;
}

async function redeliverEvent(
  on: On,
  { projectId, eventId }: { projectId: string; eventId: string },
): Promise<number | null> {
  const delivery = await on.events.redeliver(eventId);
  if (delivery === null) return null;
  await on.record({ action: 'event_redelivered', projectId, objectId: eventId, ...noFields });
  return delivery;
}

const noFields = { fieldsBefore: [], fieldsAfter: [] };
