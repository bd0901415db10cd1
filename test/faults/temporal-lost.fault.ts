import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import {
  type FaultServer,
  ownPostgres,
  ownTemporal,
  resetServers,
} from './support/fault-servers.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let temporal: FaultServer;
let fixture: FaultFixture;
beforeAll(async () => {
  await resetServers();
  temporal = await ownTemporal((await ownPostgres()).address);
  fixture = await startFaultFixture({ on: { temporalAddress: temporal.address } });
});
afterAll(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});

const timeoutMs = 120_000;
const downMs = 20_000;

it('continues while Temporal is down, and succeeds when it is back', async () => {
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);
  await temporal.kill();
  releaseFlood(service, runId, 1);
  await Promise.all([sleep(downMs), steadyClient.untilFrames(2 * framesOfPart, timeoutMs)]);
  await waitForReconnect('Temporal', steadyClient, () => {
    releaseFlood(service, runId, 2);
    return temporal.start();
  });
  await expectComplete();
  expect(steadyClient.transcript.connections).toHaveLength(1);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
});

it('ends a run whose agent ended while Temporal was down', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  await temporal.kill();
  releaseFlood(service, runId, 0, 1, 2);
  await Promise.all([sleep(downMs), steadyClient.untilFrames(2.8 * framesOfPart, timeoutMs)]);
  await temporal.start();
  await expectComplete();
});

it('admits runs while Temporal is down, and starts each once afterwards', async () => {
  await temporal.kill();
  const runIds = [];
  for (let n = 0; n < 5; n += 1) runIds.push(await fixture.trigger('nothing but an echo'));
  await sleep(downMs);
  await temporal.start();
  for (const runId of runIds) await fixture.expectInvariants(runId, { withinMs: timeoutMs });
});
