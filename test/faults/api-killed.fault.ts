import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture();
});
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;

it('loses nothing for clients that reconnect after the API was killed', async () => {
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await steadyClient.untilFrames(part * framesOfPart + 1_000, timeoutMs);
    await service.api.kill('SIGKILL');
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await waitForReconnect('API', steadyClient, () => service.api.start());
  }
  await expectComplete();
  expect(steadyClient.transcript.connections.length).toBeGreaterThan(2);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
});

it('ends streams with a short reconnect delay when the API receives SIGTERM', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);
  await service.api.restart('SIGTERM');
  releaseFlood(service, runId, 1, 2);
  await expectComplete();
});
