// Operators list, read and redeliver the events that are sent to the callback URL of a session.

import { beforeAll, expect, test } from 'vitest';
import { createInteractionStore } from '../../../../systems/postgres/runs/interaction-store.ts';
import { addEndpoint } from '../../../support/endpoints.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api, 'olga');
});

const callbackUrl = 'https://hooks.example/session';

/** A session whose agent has asked so many questions. */
async function session(questions: number): Promise<{ runId: string; path: string }> {
  const { projectId, flowId, key } = tenant;
  const opened = await caller(api, key)(`/api/v1/flows/${flowId}/sessions`, {
    body: { callbackUrl },
  });
  const { runId } = opened.json.data as { runId: string };
  const store = createInteractionStore(fixture.database.pool);
  const question = { toolName: 'AskUserQuestion', input: '{"questions":[]}' };
  for (let n = 1; n <= questions; n += 1) {
    const interaction = { ...question, interactionId: `question-${n}` };
    await store.record(runId, [{ kind: 'asked', interaction }]);
  }
  return { runId, path: `/api/projects/${projectId}/runs/${runId}/webhook/events` };
}

test('lists the events of a session page by page, with their bodies and attempts', async () => {
  const url = 'https://hooks.example/events';
  const eventTypes = ['interaction.asked' as const];
  await addEndpoint(fixture.database.pool, { projectId: tenant.projectId, url, eventTypes });
  const { runId, path } = await session(3);
  const page = await operator(`${path}?limit=2`);
  expect(page.status, page.text).toBe(200);
  const event = {
    endpointId: null,
    runId,
    event: 'interaction.asked',
    state: 'pending',
    attempts: 0,
  };
  expect(page.json.data).toMatchObject([event, event]);
  const next = /\?[^>]+/.exec(page.headers.get('link') ?? '')?.[0] ?? '';
  const rest = await operator(`${path}${next}`);
  expect(rest.json.data, 'without those for the endpoint').toMatchObject([event]);
  const read = await operator(`${path}/${rest.json.data[0].eventId}`);
  expect(read.json.data).toMatchObject({ ...rest.json.data[0], deliveryAttempts: [] });
  expect(JSON.parse(read.json.data.body)).toMatchObject({ runId, interactionId: 'question-1' });
});

test('delivers an event again, with an entry in the audit log', async () => {
  const { path } = await session(1);
  const { eventId } = (await operator(path)).json.data[0];
  const redeliver = () => operator(`${path}/${eventId}/redeliver`, { method: 'POST' });
  expect((await redeliver()).status).toBe(400);
  await fixture.stores.events.drop(eventId);
  const answer = await redeliver();
  expect([answer.status, answer.json.data]).toEqual([202, { eventId, delivery: 1 }]);
  const entries = await operator('/api/audit?action=event_redelivered&limit=1');
  expect(entries.json.data).toMatchObject([{ operator: 'olga', objectId: eventId }]);
});

test('events of other runs, projects and endpoints are 404', async () => {
  const { path } = await session(1);
  const { eventId } = (await operator(path)).json.data[0];
  const { path: otherSession } = await session(0);
  const otherProject = path.replace(tenant.projectId, (await fixture.tenant()).projectId);
  const { rows } = await fixture.database.pool.query(
    'select id, run_id from webhook_events where endpoint_id is not null limit 1',
  );
  const ofEndpoint = `/api/projects/${tenant.projectId}/runs/${rows[0]?.run_id}/webhook/events/${rows[0]?.id}`;
  for (const at of [`${otherSession}/${eventId}`, `${otherProject}/${eventId}`, ofEndpoint])
    expect((await operator(at)).status, at).toBe(404);
  expect((await operator(otherProject)).status).toBe(404);
  expect((await caller(api, tenant.key)(path)).status).toBe(401);
});
