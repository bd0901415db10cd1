import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { type FaultServer, ownEngine, resetServers } from './support/fault-servers.ts';
import { framesOfPart, releaseFlood, textsIn, textsOfOutput } from './support/flood.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let engine: FaultServer;
let fixture: FaultFixture;
afterEach(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});

const timeoutMs = 120_000;

async function startOn(liveRestore: boolean): Promise<void> {
  await resetServers();
  engine = await ownEngine(liveRestore);
  fixture = await startFaultFixture({ on: { dockerHost: engine.address } });
}

it('loses nothing when the engine is killed and its containers keep running', async () => {
  await startOn(true);
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  for (const part of [0, 1] as const) {
    await steadyClient.untilFrames(part * framesOfPart + 1_000, timeoutMs);
    await engine.kill();
    await sleep(3_000);
    await waitForReconnect('engine', steadyClient, () => {
      releaseFlood(service, runId, part === 0 ? 1 : 2);
      return engine.start();
    });
  }
  await expectComplete({ engineWasDown: true });
  expect(steadyClient.transcript.connections).toHaveLength(1);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
});

it('ends a run whose container dies with the engine, once, and keeps its output', async () => {
  await startOn(false);
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0, 1);
  await steadyClient.untilFrames(1_000, timeoutMs);
  const spool = openSync(foldersOf(service.dataDir, { runId, generation: 1 }).spoolFile, 'r');
  await engine.kill();
  await engine.start();
  const clients = [steadyClient, reconnectingClient];
  const { run, log } = await fixture.expectInvariants(runId, { clients, engineWasDown: true });
  expect(['exited', 'max_reconnects_exceeded']).toContain(run.endCause);
  if (run.endCause === 'exited') expect([137, 143, 255]).toContain(run.exitCode);
  const spooled = textsOfOutput(readFileSync(spool, 'utf8'));
  closeSync(spool);
  expect(spooled.length).toBeGreaterThan(500);
  expect(textsIn(log)).toEqual(spooled);
});

it('starts one container if the engine was down when the run was due to start', async () => {
  await startOn(true);
  await engine.kill();
  const runId = await fixture.trigger('nothing but an echo');
  await sleep(5_000);
  await engine.start();
  const { run } = await fixture.expectInvariants(runId, {
    withinMs: timeoutMs,
    engineWasDown: true,
  });
  expect(run.endCause).toBe('completed');
});
