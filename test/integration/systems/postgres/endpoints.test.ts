// Endpoints of a project, and the events that the end of a run or session inserts for them.

import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import type { EndpointEvent } from '../../../../core/webhook.ts';
import { readStoredBytes } from '../../../../systems/postgres/accounts/stored-bytes.ts';
import { createEndpointStore } from '../../../../systems/postgres/endpoints/endpoint-store.ts';
import {
  createEventRequests,
  createEventStore,
} from '../../../../systems/postgres/endpoints/event-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { createScenario, type Scenario } from '../../../support/database-records.ts';
import { addEndpoint, changeEndpoints, removeEndpoint } from '../../../support/endpoints.ts';
import { messageBytesInPostgres } from '../../../support/message-bytes.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);
beforeEach(() => database.pool.query('truncate webhook_events cascade'));

const url = 'https://hooks.example/events';
const { endpointsPerProject, eventsInProgress, eventRestartAfterMs } = limits.webhook;
const endpoints = () => createEndpointStore(database.pool);
const requests = () => createEventRequests(database.pool);
const events = (pool = database.pool) => createEventStore(pool, testSealer);
const runs = () => createRunStore(database.pool, testSealer);
const first = { made: 0, claimedBy: 'workflow-1', execution: 1, unanswered: null };

const endpointOf = (
  { projectId }: Pick<Scenario, 'projectId'>,
  ...eventTypes: EndpointEvent[]
): Promise<string> => addEndpoint(database.pool, { projectId, url, eventTypes });

const remove = (endpointId: string) => removeEndpoint(database.pool, endpointId);

const end = (runId: string) =>
  runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

async function endedRun(of: Scenario = scenario): Promise<string> {
  const { runId } = await of.run();
  await end(runId);
  return runId;
}

const eventsOf = async (endpointId: string) =>
  (await events().page(endpointId, { limit: 100 })).events;

async function oneEventOf(endpointId: string) {
  const [event] = await eventsOf(endpointId);
  if (!event) throw new Error('no event');
  return event;
}

test('a project has at most ten endpoints, also if many are created at once', async () => {
  const { projectId } = scenario;
  const create = (pool = database.pool) =>
    changeEndpoints(pool, (on) => on.create({ projectId, url, eventTypes: ['run.finished'] }));
  const attempts = Array.from({ length: endpointsPerProject + 5 }, (_, n) =>
    create(n % 2 ? second() : database.pool),
  );
  const made = (await Promise.all(attempts)).filter((one) => one !== null);
  expect(made).toHaveLength(endpointsPerProject);
  expect(await remove(made[0]?.endpointId ?? '')).toBe(true);
  expect(await remove(made[0]?.endpointId ?? '')).toBe(false);
  await endpointOf(scenario, 'run.finished');
  expect(await create()).toBeNull();
  expect(await endpoints().list(projectId)).toHaveLength(endpointsPerProject);
  const other = await createScenario(database.pool, testSealer);
  await endpointOf(other, 'run.finished');
});

test('the end of a run adds an event for each endpoint that subscribes to it', async () => {
  const other = await createScenario(database.pool, testSealer);
  const all = await endpointOf(scenario, 'run.finished', 'session.ended');
  const ofRuns = await endpointOf(scenario, 'run.finished');
  const ofSessions = await endpointOf(scenario, 'session.ended');
  const removed = await endpointOf(scenario, 'run.finished');
  await remove(removed);
  const foreign = await endpointOf(other, 'run.finished');
  const { runId } = await scenario.run();
  const ended = await end(runId);
  expect(ended.run.webhook.state).toBe('none');
  expect(await end(runId), 'a second call adds nothing').toMatchObject({ webhook: false });
  for (const endpointId of [all, ofRuns]) {
    const event = { endpointId, runId, event: 'run.finished', state: 'pending', attempts: 0 };
    expect(await eventsOf(endpointId)).toMatchObject([event]);
  }
  for (const endpointId of [ofSessions, removed, foreign])
    expect(await eventsOf(endpointId)).toEqual([]);
  const session = await scenario.session();
  await end(session.runId);
  expect(await eventsOf(ofSessions)).toMatchObject([{ event: 'session.ended' }]);
  expect(await eventsOf(ofRuns)).toHaveLength(1);
});

test('the event and the webhook of a run have the same body, and both are stored bytes', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  const { runId } = await scenario.run({ callbackUrl: url });
  expect(await end(runId)).toMatchObject({ webhook: true });
  const { eventId } = await oneEventOf(endpointId);
  const { rows } = await database.pool.query(
    'select webhook_body as body from runs where id = $1',
    [runId],
  );
  expect(await events().find(eventId)).toMatchObject(rows[0] ?? {});
  await endedRun();
  const { projectId } = scenario;
  const { messages } = await readStoredBytes(database.pool, projectId);
  expect(messages).toBe(await messageBytesInPostgres(database.pool, projectId));
});

test('an event is claimed like a webhook: once, and sent to the current URL', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  const runId = await endedRun();
  const { eventId } = await oneEventOf(endpointId);
  const moved = 'https://hooks.example/moved';
  await changeEndpoints(database.pool, (on) => on.update(endpointId, { url: moved }));
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      events(n % 2 ? second() : database.pool).claimAttempt({ ...first, id: eventId, delivery: 0 }),
    ),
  );
  const claimed = claims.filter((one) => 'url' in one);
  expect(claimed).toMatchObject([
    { event: 'run.finished', runId, url: moved, deliveryId: eventId, attempt: 1 },
  ]);
  expect(await requests().redeliver(eventId), 'it is being delivered').toBeNull();
  await events().recordAttempt(eventId, 1, { status: 204, error: null });
  await events().drop(eventId);
  expect(await oneEventOf(endpointId)).toMatchObject({ state: 'delivered', lastStatus: 204 });
  expect(await events().attempts(eventId)).toMatchObject([{ delivery: 0, attempt: 1 }]);
});

test('nothing is sent to an endpoint after its removal', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  await endedRun();
  const { eventId } = await oneEventOf(endpointId);
  await remove(endpointId);
  const claim = { ...first, id: eventId, delivery: 0 };
  expect(await events().claimAttempt(claim)).toEqual({ unavailable: 'none_left' });
  expect(await endpoints().find(endpointId)).toBeNull();
});

test('an event is taken by one of many workers, and again if it stays pending', async () => {
  await endpointOf(scenario, 'run.finished');
  await endedRun();
  const take = () =>
    Promise.all(
      Array.from({ length: 10 }, (_, n) => events(n % 2 ? second() : database.pool).takeDue()),
    );
  const ours = (await take()).flat();
  expect(ours).toHaveLength(1);
  expect(await events().takeDue()).toEqual([]);
  await events().returnDue(ours.map(({ eventId }) => eventId));
  expect(await events().takeDue()).toEqual(ours);
  const text = `update webhook_events set start_at = start_at - $1 * interval '1 ms'`;
  await database.pool.query(text, [eventRestartAfterMs]);
  expect(await events().takeDue()).toEqual(ours);
});

test('a project has a limited number of events in progress, and delays no other', async () => {
  const crowded = await endpointOf(scenario, 'run.finished');
  await database.pool.query(
    `insert into webhook_events (endpoint_id, project_id, event, body, start_at)
     select $1, $2, 'run.finished', '{}', db_clock() - interval '1 hour'
     from generate_series(1, $3::integer)`,
    [crowded, scenario.projectId, eventsInProgress * 2],
  );
  const other = await createScenario(database.pool, testSealer);
  const endpointId = await endpointOf(other, 'run.finished');
  await endedRun(other);
  const { eventId } = await oneEventOf(endpointId);
  const taken = (await events().takeDue()).map((one) => one.eventId);
  expect(taken).toContain(eventId);
  const hanging = taken.filter((id) => id !== eventId);
  expect(hanging).toHaveLength(eventsInProgress);
  expect(await events().takeDue(), 'none has ended').toEqual([]);
  expect(await events().unstarted(0), 'those that wait for their turn').toEqual([]);
  await events().drop(hanging[0] ?? '');
  expect(await events().unstarted(0)).not.toEqual([]);
  expect(await events().takeDue(), 'one has ended').toHaveLength(1);
});

test('a redelivery is a further delivery of the same event, with four attempts', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  await endedRun();
  const { eventId } = await oneEventOf(endpointId);
  await events().drop(eventId);
  expect(await requests().redeliver(eventId)).toBe(1);
  expect(await events().takeDue()).toMatchObject([{ eventId, delivery: 1 }]);
  const claimed = await events().claimAttempt({ ...first, id: eventId, delivery: 1 });
  expect(claimed).toMatchObject({ attempt: 1, deliveryId: eventId });
  await events().recordAttempt(eventId, 1, { status: 200, error: null, delivery: 1 });
  expect(await oneEventOf(endpointId)).toMatchObject({ state: 'delivered' });
});

test('a redelivery that fails does not undo an earlier success', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  const reported = await endpointOf(scenario, 'delivery.dropped');
  await endedRun();
  const { eventId } = await oneEventOf(endpointId);
  const attempt = async (delivery: number, status: number) => {
    await events().claimAttempt({ ...first, id: eventId, delivery });
    await events().recordAttempt(eventId, 1, { status, error: null, delivery });
  };
  await attempt(0, 204);
  expect(await requests().redeliver(eventId)).toBe(1);
  await attempt(1, 500);
  expect(await oneEventOf(endpointId)).toMatchObject({ state: 'pending', lastStatus: 500 });
  await events().drop(eventId);
  expect(await oneEventOf(endpointId)).toMatchObject({ state: 'delivered', lastStatus: 204 });
  expect(await eventsOf(reported)).toEqual([]);
});

test('a redelivery makes no attempt after one that was answered', async () => {
  const endpointId = await endpointOf(scenario, 'run.finished');
  await endedRun();
  const { eventId } = await oneEventOf(endpointId);
  await events().drop(eventId);
  await requests().redeliver(eventId);
  await events().claimAttempt({ ...first, id: eventId, delivery: 1 });
  await events().recordAttempt(eventId, 1, { status: 202, error: null, delivery: 1 });
  const repeated = { ...first, id: eventId, delivery: 1, made: 1, execution: 2 };
  expect(await events().claimAttempt(repeated)).toEqual({ done: 202 });
  expect(await events().attempts(eventId)).toHaveLength(1);
});
