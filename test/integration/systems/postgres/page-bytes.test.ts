// What the reconciler's queries transfer of runs with long prompts and results. A worker has a page
// of each in its memory.

import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../../systems/postgres/client/pool.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { createReconcileStore } from '../../../../systems/postgres/maintenance/reconcile-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { testSealer } from '../../../support/database.ts';
import { storeMessage } from './session-turns.ts';
import { setupScenario } from './setup-scenario.ts';

const { database, scenario } = setupScenario();
const miB = 1024 ** 2;
const runs = () => createRunStore(database.pool, testSealer);

/** A run or session for each of the queries. */
async function createRuns(): Promise<{ workflowIds: string[] }> {
  await createHostStore(database.pool).renew({ hostId: 'h', name: 'h', capacity: 10 });
  await scenario.run(); // unstarted
  const live = [await scenario.run(), await scenario.session()];
  for (const { runId } of live) {
    await runs().markWorkflowStarted(runId);
    await runs().markStarted(runId, 1, 'idle');
  }
  const stopped = await scenario.run();
  await runs().recordCause({ runId: stopped.runId, cause: 'stopped_by_api', detail: null });
  const { runId } = await scenario.run({ callbackUrl: 'https://hooks.example' });
  await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await storeMessage(database.pool, (await scenario.session()).runId);
  await database.pool.query(
    `update runs set prompt = repeat('é', $1), result = repeat('r', $1),
       structured_output = repeat('s', $1), host_id = coalesce(host_id, 'h')`,
    [miB],
  );
  await database.pool.query(`update runs set holds_slot = true where session_id is not null`);
  return { workflowIds: live.map(({ workflowId }) => workflowId) };
}

/** A pool with one connection, and what that has received. */
async function countedPool() {
  const pool = createPool(database.url, { applicationName: 'counted', max: 1 });
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  // a property that the types of the package lack
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  client.release();
  return { pool, received: () => stream.bytesRead };
}

test('lists of runs are read without their prompts and results', async () => {
  const { workflowIds } = await createRuns();
  const { pool, received } = await countedPool();
  const reconcile = createReconcileStore(pool);
  const messages = createMessageStore(pool);
  const young = -60_000;
  const lists: Record<string, () => Promise<unknown[]>> = {
    unstarted: () => reconcile.unstarted(young),
    unfinishedStops: () => reconcile.unfinishedStops(young),
    activeRuns: () => reconcile.activeRuns(100),
    activeRunsOf: () => reconcile.activeRunsOf(workflowIds),
    runsOnLostHosts: () => reconcile.runsOnLostHosts(young),
    sessionsOnLostHosts: () => reconcile.sessionsOnLostHosts(young),
    pendingWebhooks: () => reconcile.pendingWebhooks(young),
    unsignalled: () => messages.unsignalled(young),
  };
  for (const [name, read] of Object.entries(lists)) {
    const before = received();
    expect((await read()).length, name).toBeGreaterThan(0);
    expect(received() - before, name).toBeLessThan(miB / 10);
  }
  const [first] = await reconcile.unstarted(young);
  expect(first).toMatchObject({ promptBytes: 2 * miB });
  expect(first).not.toHaveProperty('prompt');
});
