// What only operators' requests refer to.

import { randomUUID } from 'node:crypto';
import { createEventRequests } from '../../../../systems/postgres/endpoints/event-store.ts';
import { createInteractionStore } from '../../../../systems/postgres/runs/interaction-store.ts';
import { type ApiFixture, type ApiProcess, publicUrl } from '../../../support/api-fixture.ts';
import { addEndpoint } from '../../../support/endpoints.ts';
import { caller } from '../call.ts';
import { cookieOf } from '../operators/operator-client.ts';

/** Path parameters: a key and an endpoint with an event. No operator token has the ID. */
export async function operatorsIds(
  { database, stores }: ApiFixture,
  projectId: string,
): Promise<Record<string, string>> {
  const spare = { name: 'spare', createdBy: 'ana', rateLimitRpm: 60, projectId };
  const { record } = await stores.keys.create(spare);
  const url = 'https://hooks.example/';
  const endpoint = { projectId, url, eventTypes: ['run.finished' as const] };
  const endpointId = await addEndpoint(database.pool, endpoint);
  const eventId = await createEventRequests(database.pool).addTest(endpointId, '{}');
  return { projectId, keyId: record.keyId, endpointId, eventId, tokenId: randomUUID() };
}

/** Path parameters: a session with a callback URL, and an event for it. */
export async function sessionEventIds(
  { database }: ApiFixture,
  runId: string,
): Promise<Record<string, string>> {
  const interaction = { interactionId: 'question-1', toolName: 'Ask', input: '{"questions":[]}' };
  await createInteractionStore(database.pool).record(runId, [{ kind: 'asked', interaction }]);
  const { rows } = await database.pool.query<{ id: string }>(
    'select id from webhook_events where run_id = $1',
    [runId],
  );
  return { runId, eventId: rows[0]?.id ?? '' };
}

/** The cookie of an operator. */
export async function signIn({ stores }: ApiFixture, api: ApiProcess): Promise<string> {
  const { code } = await stores.operators.invite('ana');
  const headers = { origin: publicUrl };
  return cookieOf(await caller(api, null)('/api/sign-in', { body: { code }, headers }));
}
