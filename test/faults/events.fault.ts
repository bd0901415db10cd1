// Events for an endpoint while workers are killed: none is lost, each change is one event, and
// every post of an event has the same ID and the same bytes.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { endpointEvents } from '../../core/webhook.ts';
import { addEndpoint } from '../support/endpoints.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { postsOf } from '../support/received-webhook.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture({ env: { RECONCILE_EVERY_MS: '500' } });
  const { database, projectId } = fixture.service;
  const url = `${fixture.receiver.url}/events`;
  await database.pool.query('update projects set max_concurrent_runs = 100');
  await addEndpoint(database.pool, { projectId, url, eventTypes: [...endpointEvents] });
});
afterAll(() => fixture?.stop());

const pollOptions = { timeout: 180_000, interval: 500 };
const prompt = script([{ say: 'here' }]);

/** The events of a run by their names, each with the number of its posts. */
function received(runId: string): Map<string, number> {
  const found = new Map<string, { id: string; body: string; posts: number }>();
  for (const { headers, body } of postsOf(fixture.receiver, { runId })) {
    const event = String(headers['x-service-event']);
    const id = String(headers['x-service-delivery-id']);
    const first = found.get(event) ?? { id, body, posts: 0 };
    expect([id, body], event).toEqual([first.id, first.body]);
    found.set(event, { ...first, posts: first.posts + 1 });
  }
  return new Map([...found].map(([event, { posts }]) => [event, posts]));
}

const eventsOfRun = ['run.finished', 'run.started'];
const untilReceived = (runId: string): Promise<void> =>
  expect.poll(() => [...received(runId).keys()].sort(), pollOptions).toEqual(eventsOfRun);

const trigger = async (): Promise<string> => (await fixture.service.trigger({ prompt })).runId;

it.each([
  'start.marked',
  'end.written',
  'end.committed',
  'webhook.claimed',
  'webhook.sent',
] as const)(
  'arrive if the worker dies at %s',
  async (name) => {
    const { worker } = fixture.service;
    await restartWithFailpoint(worker, name);
    const runId = await trigger();
    await restartAfterFailpoint(worker);
    await untilReceived(runId);
  },
  240_000,
);

it('events arrive although the worker is killed again and again', {
  timeout: 300_000,
}, async () => {
  const { worker, database } = fixture.service;
  const runIds: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    runIds.push(await trigger(), await trigger());
    await worker.kill('SIGKILL');
    await worker.start();
  }
  for (const runId of runIds) await untilReceived(runId);
  const { rows } = await database.pool.query(
    'select run_id, event from webhook_events group by 1, 2 having count(*) > 1',
  );
  expect(rows).toEqual([]);
});
