// Changes of runs, sessions and deliveries add their events once, for endpoints and callback URLs.

import { expect, test } from 'vitest';
import { webhookBodies } from '../../../../api/openapi/webhook-bodies.ts';
import { type EndpointEvent, endpointEvents } from '../../../../core/webhook.ts';
import { readStoredBytes } from '../../../../systems/postgres/accounts/stored-bytes.ts';
import { createEventStore } from '../../../../systems/postgres/endpoints/event-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createInteractionStore } from '../../../../systems/postgres/runs/interaction-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../../../../systems/postgres/runs/webhook-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../../../../systems/postgres/sessions/turn-store.ts';
import { testSealer } from '../../../support/database.ts';
import { addEndpoint, removeEndpoint } from '../../../support/endpoints.ts';
import { messageBytesInPostgres } from '../../../support/message-bytes.ts';
import { giveMessage, storeMessage } from './session-turns.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);
const url = 'https://hooks.example/events';
const callbackUrl = 'https://hooks.example/session';
const events = (pool = database.pool) => createEventStore(pool, testSealer);
const runs = (pool = database.pool) => createRunStore(pool, testSealer);
const turns = () => createTurnStore(database.pool);

const endpoint = (eventTypes = [...endpointEvents]) =>
  addEndpoint(database.pool, { projectId: scenario.projectId, url, eventTypes });

interface StoredEvent {
  id: string;
  endpointId: string | null;
  event: EndpointEvent;
  body: Record<string, unknown>;
}

/** All events of the project, oldest first, with exactly the documented fields. */
async function stored(): Promise<StoredEvent[]> {
  const { rows } = await database.pool.query<Omit<StoredEvent, 'body'> & { body: string }>(
    `select id, endpoint_id as "endpointId", event, body from webhook_events
     where project_id = $1 order by created_at, endpoint_id`,
    [scenario.projectId],
  );
  const found = rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
  for (const { event, body } of found) expect(webhookBodies[event].parse(body)).toEqual(body);
  return found;
}

async function one(): Promise<StoredEvent> {
  const [event, ...others] = await stored();
  expect(others).toEqual([]);
  if (event === undefined) throw new Error('no event');
  return event;
}

/** Makes ten calls at once, from two pools as in two processes. */
const tenTimes = <T>(work: (pool: typeof database.pool) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 10 }, (_, n) => work(n % 2 ? second() : database.pool)));

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const eventOfRun = ({ runId }: { runId: string }) => ({
  ...{ projectId: scenario.projectId, flowId: scenario.flow.flowId, runId },
  occurredAt: timestamp,
});

test('the start of a run adds one event, also if many calls report it', async () => {
  const endpointId = await endpoint();
  const { runId } = await scenario.run({ labels: { order: '4711' } });
  const started = await tenTimes((pool) => runs(pool).markStarted(runId, 1, 'working'));
  expect(started.filter(Boolean)).toHaveLength(1);
  const { event, body, endpointId: to } = await one();
  expect([event, to]).toEqual(['run.started', endpointId]);
  expect(body).toEqual({
    ...eventOfRun({ runId }),
    ...{ status: 'running', agentStatus: 'working', triggerType: 'api', startedAt: timestamp },
    labels: { order: '4711' },
  });
});

const asked = (interactionId: string, question = 'Which “colour”?') => ({
  kind: 'asked' as const,
  interaction: {
    interactionId,
    toolName: 'AskUserQuestion',
    input: JSON.stringify({ questions: [{ question }] }),
  },
});

test('labels and questions may have text that jsonb rejects', async () => {
  await endpoint();
  const labels = { order: 'a\0b', other: '\ud800' };
  const { runId } = await scenario.run({ labels });
  await runs().markStarted(runId, 1, 'working');
  await createInteractionStore(database.pool).record(runId, [asked('q-1', 'a\0b\udc00')]);
  const [started, question] = (await stored()).map(({ body }) => body);
  expect([started?.['labels'], question?.['labels']]).toEqual([labels, labels]);
  expect(question?.['input']).toEqual({ questions: [{ question: 'a\0b\udc00' }] });
});

test('each question of an agent adds one event, also if many calls record it', async () => {
  await endpoint();
  const { runId } = await scenario.run({ callbackUrl });
  const questions = [asked('q-1'), asked('q-2')];
  await tenTimes((pool) => createInteractionStore(pool).record(runId, questions));
  await createInteractionStore(database.pool).record(runId, [asked('q-2')]);
  const found = await stored();
  expect(found.map(({ event, body }) => [event, body['interactionId']])).toEqual([
    ['interaction.asked', 'q-1'],
    ['interaction.asked', 'q-2'],
  ]);
  expect(found[0]?.body).toEqual({
    ...eventOfRun({ runId }),
    ...{ interactionId: 'q-1', toolName: 'AskUserQuestion', askedAt: timestamp, labels: {} },
    input: { questions: [{ question: 'Which “colour”?' }] },
  });
});

test('a question in a session is also sent to its callback URL', async () => {
  const { runId } = await scenario.session({ callbackUrl });
  await createInteractionStore(database.pool).record(runId, [asked('q-1')]);
  const { id, endpointId, event } = await one();
  expect([endpointId, event]).toEqual([null, 'interaction.asked']);
  expect(await events().takeDue()).toContainEqual({ eventId: id, requestId: null, delivery: 0 });
  const claim = { made: 0, claimedBy: 'w', execution: 1, unanswered: null };
  const claimed = await events().claimAttempt({ ...claim, id, delivery: 0 });
  expect(claimed).toMatchObject({ url: callbackUrl, runId, event, deliveryId: id });
});

const end = (runId: string) =>
  runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });

/** A turn of a session, and what ends it. */
async function turn(queued = 0) {
  const { runId } = await scenario.session({ callbackUrl });
  const messageId = await storeMessage(database.pool, runId);
  for (let n = 0; n < queued; n += 1) await storeMessage(database.pool, runId);
  const lease = await giveMessage(database.pool, runId);
  const facts = { agentStatus: 'idle' as const };
  const batch = { fromOffset: 0, toOffset: 1, frames: [], facts };
  const turnEnd = { messageId, exitCode: 0 as const, reply: 'Hi.' };
  const finish = () => createFrameStore(database.pool).append({ ...lease, ...batch }, { turnEnd });
  return { runId, messageId, lease, finish };
}

test('a session becomes idle once after its turn, and only if no message is left', async () => {
  const { runId, messageId, finish } = await turn();
  await tenTimes(finish);
  const { event, body } = await one();
  expect(event).toBe('session.idle');
  expect(body).toEqual({
    ...eventOfRun({ runId }),
    ...{ sessionId: expect.any(String), messageId, exitCode: 0, result: 'Hi.', labels: {} },
  });
  const waiting = await turn(1);
  await waiting.finish();
  expect(await stored()).toHaveLength(1);
});

test.each([
  [
    'whose files were rejected',
    'files_refused',
    ({ lease, messageId }: Turn) => turns().rejectTurn(lease, { messageId, reason: 'No.' }),
  ],
  [
    'that could not be delivered',
    'no_capacity',
    ({ runId }: Turn) =>
      turns().failTurn({ runId, generation: 1 }, { error: 'no_capacity', reason: 'No.' }),
  ],
  [
    'that has stalled',
    'stalled',
    async ({ runId, lease, messageId }: Turn) => {
      await turns().failCurrentTurn(lease, messageId, 'stalled');
      await turns().releaseSandbox(runId, 1);
    },
  ],
])('a session is idle after a turn %s', async (_of, error, fail) => {
  const failed = await turn();
  await fail(failed);
  await fail(failed);
  const { event, body } = await one();
  const { messageId } = failed;
  expect([event, body]).toMatchObject(['session.idle', { messageId, exitCode: 1, error }]);
});

type Turn = Awaited<ReturnType<typeof turn>>;

test('a session is idle after its last queued message was withdrawn', async () => {
  const { runId } = await scenario.session({ callbackUrl });
  const messageId = await storeMessage(database.pool, runId);
  await tenTimes((pool) => createMessageStore(pool).withdraw(runId, messageId));
  expect(await one()).toMatchObject({ body: { messageId, error: 'withdrawn' } });
});

test('the messages that fail with their session add no event besides its end', async () => {
  await endpoint();
  const { runId } = await turn(2);
  await end(runId);
  expect(await one()).toMatchObject({ event: 'session.ended' });
});

test('a dropped delivery adds one event, and a dropped `delivery.dropped` adds none', async () => {
  const endpointId = await endpoint(['run.started', 'delivery.dropped']);
  const { runId } = await scenario.run();
  await runs().markStarted(runId, 1, 'working');
  const { id } = await one();
  await tenTimes((pool) => events(pool).drop(id));
  const [, dropped, ...others] = await stored();
  expect(others).toEqual([]);
  expect([dropped?.event, dropped?.body]).toEqual([
    'delivery.dropped',
    {
      ...{ ...eventOfRun({ runId }), labels: {}, deliveryId: id, event: 'run.started', endpointId },
      ...{ attempts: 0, lastStatus: null },
    },
  ]);
  await events().drop(dropped?.id ?? '');
  expect(await stored()).toHaveLength(2);
});

test('the dropped webhook of a run adds an event, a delivery to a removed endpoint does not', async () => {
  const removed = await endpoint(['run.started']);
  const { runId } = await scenario.run({ callbackUrl });
  await runs().markStarted(runId, 1, 'working');
  const { id } = await one();
  await endpoint(['delivery.dropped']);
  await removeEndpoint(database.pool, removed);
  await events().drop(id);
  expect(await stored()).toHaveLength(1);
  await end(runId);
  await tenTimes((pool) => createWebhookStore(pool, testSealer).drop(runId));
  const [, dropped, ...others] = await stored();
  expect(others).toEqual([]);
  const body = { event: 'run.finished', endpointId: null, runId, deliveryId: expect.any(String) };
  expect(dropped).toMatchObject({ event: 'delivery.dropped', body });
});

test('events are stored bytes of their project', async () => {
  await endpoint();
  const { finish } = await turn();
  await finish();
  expect(await stored()).toHaveLength(2);
  const { projectId } = scenario;
  const { messages } = await readStoredBytes(database.pool, projectId);
  expect(messages).toBe(await messageBytesInPostgres(database.pool, projectId));
});
