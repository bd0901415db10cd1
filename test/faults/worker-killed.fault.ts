import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { waitForWorker } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture();
});
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;

it('loses nothing of a run whose worker is killed twice', async () => {
  const { service } = fixture;
  const { worker } = service;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await steadyClient.untilFrames(part * framesOfPart + 1_000, timeoutMs);
    await worker.kill('SIGKILL');
    releaseFlood(service, runId, part === 0 ? 1 : 2);
    await waitForWorker(service, runId, { worker, client: steadyClient });
  }
  await expectComplete();
  expect(steadyClient.transcript.connections).toHaveLength(1);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
  expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
});
