import { expect, test } from 'vitest';
import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import {
  createEventRequests,
  createEventStore,
} from '../../../../systems/postgres/endpoints/event-store.ts';
import { createFleetStore } from '../../../../systems/postgres/hosts/fleet-store.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { addEndpoint } from '../../../support/endpoints.ts';
import { healthyHost } from '../../../support/host-health.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();

const count = () => createFleetStore(database.pool, 10_000).count();

test('an empty service has zero counts', async () => {
  await database.pool.query('truncate hosts cascade');
  expect(await count()).toEqual({
    runs: { waiting: 0, starting: 0, running: 0, awake: 0, asleep: 0 },
    oldestRunSeconds: 0,
    messages: 0,
    oldestMessageSeconds: 0,
    webhooks: 0,
    oldestWebhookSeconds: 0,
    events: 0,
    oldestEventSeconds: 0,
    hosts: { live: 0, draining: 0, disk_short: 0, stale: 0 },
    slots: { free: 0, occupied: 0 },
    projectsAtCap: 0,
    storedBytes: { files: 0, transcripts: 0, logs: 0, messages: 0 },
    projectsAtStorageQuota: 0,
    spentBudgets: { 80: 0, 100: 0 },
    missingWorkflows: 0,
  });
});

test('counts runs, slots, webhooks and projects at their limit', async () => {
  const { pool } = database;
  const runs = createRunStore(pool, testSealer);
  const hosts = createHostStore(pool);
  const flow = await createFlowStore(pool, testSealer).create({
    projectId: scenario.projectId,
    name: 'Bound',
    runner: 'h-2',
  });
  await hosts.renew({ hostId: 'h-2', name: 'two', capacity: 0 });
  const waiting = await scenario.run({ flowId: flow.flowId });
  await hosts.renew({ hostId: 'h-1', name: 'one', capacity: 5 });
  await hosts.renew({ hostId: 'h-2', name: 'two', capacity: 5 });
  await hosts.renew({ hostId: 'h-3', name: 'three', capacity: 5 });
  const short = { ...healthyHost, diskFreeBytes: 1 };
  await hosts.renew({ hostId: 'h-4', name: 'four', capacity: 5, report: short });
  await hosts.setDraining('h-2', true);
  await pool.query(`update hosts set last_seen = last_seen - interval '1 min' where id = 'h-3'`);
  const [running, ended] = [await scenario.run({}), await scenario.run({ callbackUrl })];
  await scenario.run({});
  await runs.markStarted(running.runId, running.generation, 'idle');
  await runs.endRun({ runId: ended.runId, cause: 'completed', detail: null, exitCode: 0 });
  await pool.query(`update runs set created_at = created_at - interval '1 min' where id = $1`, [
    waiting.runId,
  ]);
  await pool.query('update projects set max_concurrent_runs = 3');
  const numbers = await count();
  expect(numbers).toMatchObject({
    runs: { waiting: 1, starting: 1, running: 1, awake: 0, asleep: 0 },
    webhooks: 1,
    hosts: { live: 1, draining: 1, disk_short: 1, stale: 1 },
    slots: { free: 3, occupied: 2 },
    projectsAtCap: 1,
  });
  expect(numbers.oldestRunSeconds).toBeGreaterThan(59);
  expect(numbers.oldestRunSeconds).toBeLessThan(90);
});

test('counts pending events, and how long they have waited for a worker', async () => {
  const { pool } = database;
  const { projectId } = scenario;
  const endpoint = { projectId, url: callbackUrl, eventTypes: ['run.finished' as const] };
  const endpointId = await addEndpoint(pool, endpoint);
  const requests = createEventRequests(pool);
  const [late] = [
    await requests.addTest(endpointId, '{}'),
    await requests.addTest(endpointId, '{}'),
  ];
  await pool.query(
    `update webhook_events set start_at = start_at - interval '1 min' where id = $1`,
    [late],
  );
  const { events, oldestEventSeconds } = await count();
  expect(events).toBe(2);
  expect(oldestEventSeconds).toBeGreaterThan(59);
  await createEventStore(pool, testSealer).takeDue();
  expect(await count()).toMatchObject({ events: 2, oldestEventSeconds: 0 });
});

const callbackUrl = 'https://hooks.example.test/run';
