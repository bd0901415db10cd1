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

const patienceMs = 120_000;
/** Briefly, and for longer than the lease of a log. */
const awayMs = [3_000, 20_000] as const;

it('loses nothing when Postgres crashes and recovers', async () => {
  const { service } = fixture;
  const { runId, stays, comesAndGoes, expectWhole } = await fixture.startFlood();
  await stays.seenFrames(1, patienceMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await stays.seenFrames(part * framesOfPart + 1_000, patienceMs);
    await postgres.kill();
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await sleep(awayMs[part]);
    await waitForReconnect('Postgres', stays, () => postgres.start());
  }
  await expectWhole();
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
});

it('loses nothing when every connection is cut again and again', async () => {
  const { service } = fixture;
  const { pool } = service.database;
  const { runId, stays, expectWhole } = await fixture.startFlood();
  await stays.seenFrames(1, patienceMs);
  releaseFlood(service, runId, 0, 1, 2);
  const cut = `
    select count(pg_terminate_backend(pid))::int as cut from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test'`;
  let cuts = 0;
  while (stays.frames() < 2.5 * framesOfPart) {
    const { rows } = await pool.query<{ cut: number }>(cut);
    cuts += rows[0]?.cut ?? 0;
    await sleep(500);
  }
  expect(cuts).toBeGreaterThan(10);
  await expectWhole();
});
