import { expect, test } from 'vitest';
import { addEndpoint } from '../../../../support/endpoints.ts';
import { setupReconciler } from '../setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

/** Ends a run for a new endpoint, and returns a function that reads the event. */
async function addEvent() {
  await database.pool.query('update webhook_endpoints set removed_at = db_clock()');
  const { projectId } = scenario;
  const url = 'https://receiver.example/';
  const endpointId = await addEndpoint(database.pool, {
    ...{ projectId, url, eventTypes: ['run.finished' as const] },
  });
  const { runId } = await fixture.started(await scenario.run());
  await fixture.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const text = 'select state, redeliveries from webhook_events where endpoint_id = $1';
  return async () => (await database.pool.query(text, [endpointId])).rows;
}

test('each event that the end of a run adds for an endpoint gets a workflow', async () => {
  await addEvent();
  await fixture.reconciler.pass();
  await fixture.reconciler.pass();
  expect(fixture.calls).toEqual([expect.stringMatching(/^event [0-9a-f-]{36} 0$/)]);
});

test.each(['delivered', 'dropped'] as const)(
  'an event that was %s before a restore gets the state that its workflow reports',
  async (outcome) => {
    const stateOfEvent = await addEvent();
    fixture.deps.temporal.startEvent = async () => outcome;
    await fixture.reconciler.pass();
    expect(await stateOfEvent()).toEqual([{ state: outcome, redeliveries: 0 }]);
  },
);

test('a redelivery whose number was used before a restore is made with the next one', async () => {
  const stateOfEvent = await addEvent();
  await database.pool.query(`update webhook_events set redeliveries = 1 where state = 'pending'`);
  const started: number[] = [];
  fixture.deps.temporal.startEvent = async ({ delivery }) => {
    started.push(delivery);
    return delivery < 3 ? 'delivered' : 'started';
  };
  for (let pass = 0; pass < 3; pass += 1) await fixture.reconciler.pass();
  expect(started).toEqual([1, 2, 3]);
  expect(await stateOfEvent()).toEqual([{ state: 'pending', redeliveries: 3 }]);
});
