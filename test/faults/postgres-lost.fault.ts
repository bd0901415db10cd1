import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { type FaultServer, ownPostgres, resetServers } from './support/fault-servers.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let postgres: FaultServer;
let fixture: FaultFixture;
beforeAll(async () => {
  await resetServers();
  postgres = await ownPostgres();
  fixture = await startFaultFixture({ on: { postgresUrl: postgres.address } });
});
afterAll(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});

const timeoutMs = 120_000;
/** Briefly, and for longer than the lease of a log. */
const downMs = [3_000, 20_000] as const;

it('loses nothing when Postgres crashes and recovers', async () => {
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await steadyClient.untilFrames(part * framesOfPart + 1_000, timeoutMs);
    await postgres.kill();
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await sleep(downMs[part]);
    await waitForReconnect('Postgres', steadyClient, () => postgres.start());
  }
  await expectComplete();
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
});

it('loses nothing when every connection is cut again and again', async () => {
  const { service } = fixture;
  const { pool } = service.database;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0, 1, 2);
  const terminateAll = `
    select count(pg_terminate_backend(pid))::int as terminated from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test'`;
  let cuts = 0;
  while (steadyClient.frames() < 2.5 * framesOfPart) {
    const { rows } = await pool.query<{ terminated: number }>(terminateAll);
    cuts += rows[0]?.terminated ?? 0;
    await sleep(500);
  }
  expect(cuts).toBeGreaterThan(10);
  await expectComplete();
});
