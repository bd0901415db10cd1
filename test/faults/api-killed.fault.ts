import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture();
});
afterAll(() => fixture?.stop());

const patienceMs = 120_000;

it('loses nothing for clients that reconnect after the API was killed', async () => {
  const { service } = fixture;
  const { runId, stays, comesAndGoes, expectWhole } = await fixture.startFlood();
  await stays.seenFrames(1, patienceMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await stays.seenFrames(part * framesOfPart + 1_000, patienceMs);
    await service.api.kill('SIGKILL');
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await waitForReconnect('API', stays, () => service.api.start());
  }
  await expectWhole();
  expect(stays.transcript.connections.length).toBeGreaterThan(2);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
});

it('ends streams with a short reconnect delay when the API receives SIGTERM', async () => {
  const { service } = fixture;
  const { runId, stays, expectWhole } = await fixture.startFlood();
  await stays.seenFrames(1, patienceMs);
  releaseFlood(service, runId, 0);
  await stays.seenFrames(1_000, patienceMs);
  await service.api.restart('SIGTERM');
  releaseFlood(service, runId, 1, 2);
  await expectWhole();
});
