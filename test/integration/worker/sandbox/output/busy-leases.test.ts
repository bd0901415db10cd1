// Renewals of leases whose logs are being written wait in Postgres, each on a connection of the
// pool of the leases.

import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkerPools } from '../../../../../systems/postgres/client/worker-pools.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import { takeLease } from '../../../../../worker/sandbox/output/lease.ts';
import { createLeaseRenewer } from '../../../../../worker/sandbox/output/lease-renewer.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario } from '../../../../support/database-records.ts';
import { useDatabase } from '../../../../support/use-database.ts';

const database = useDatabase();
const logger = pino({ enabled: false });
const owner = 'host';
/** A renewal waits as long for its answer. */
const leaseMs = 6_000;

test('busy logs of many leases do not delay the lease of a sandbox that starts', async () => {
  const { pool } = database;
  const applicationName = 'test-busy-leases';
  const options = { applicationName, connections: 8, onError: () => undefined };
  const { leasePool, end } = openWorkerPools(database.url, options);
  onTestFinished(end);
  const store = createFrameStore(pool, leasePool);
  let answered = 0;
  const renewLease: typeof store.renewLease = (...lease) =>
    store.renewLease(...lease).finally(() => (answered += 1));
  const frames = { ...store, renewLease };
  const leaseRenewer = createLeaseRenewer({ frames, times: { leaseMs }, logger });
  const deps = { frames, leaseRenewer, owner, leaseMs, logger };
  const scenario = await createScenario(pool, testSealer);
  const [starting, ...runs] = await Promise.all(Array.from({ length: 7 }, () => scenario.run()));
  const runIds = runs.map(({ runId }) => runId);
  const lost: string[] = [];
  const leases = await Promise.all(
    runIds.map((runId) => takeLease(deps, runId, () => lost.push(runId))),
  );
  onTestFinished(() => leases.forEach((lease) => lease?.release()));

  const writing = await pool.connect();
  onTestFinished(() => writing.release(true));
  await writing.query('begin');
  await writing.query('select from run_logs where run_id = any($1) for update', [runIds]);
  const waiting = `select count(*)::int as n from pg_stat_activity
    where application_name = $1 and wait_event_type = 'Lock'`;
  const countWaiting = async () => (await pool.query(waiting, [applicationName])).rows[0]?.n;
  await expect.poll(countWaiting, { timeout: 10_000 }).toBeGreaterThan(0);
  const taken = await frames.takeLease(starting?.runId ?? '', owner, leaseMs);
  expect(taken).toMatchObject({ token: 1 });
  expect(answered).toBe(0);

  await writing.query('commit');
  await expect.poll(() => answered, { timeout: 10_000 }).toBeGreaterThanOrEqual(runIds.length);
  expect(lost).toEqual([]);
});
