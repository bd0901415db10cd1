import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { comesBack } from './support/comes-back.ts';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { freshOwnParts, type OwnPart, ownPostgres, ownTemporal } from './support/own-parts.ts';
import { startWorld, type World } from './support/world.ts';

let temporal: OwnPart;
let world: World;
beforeAll(async () => {
  await freshOwnParts();
  temporal = await ownTemporal((await ownPostgres()).address);
  world = await startWorld({ on: { temporalAddress: temporal.address } });
});
afterAll(async () => {
  await world?.stop();
  await stopFaultTestServers();
});

const patienceMs = 120_000;
const awayMs = 20_000;

it('goes on while Temporal is away, and ends well when it is back', async () => {
  const { service } = world;
  const { runId, stays, comesAndGoes, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  await stays.seenFrames(1_000, patienceMs);
  await temporal.kill();
  letGoOn(service, runId, 1);
  await Promise.all([sleep(awayMs), stays.seenFrames(2 * framesOfPart, patienceMs)]);
  await comesBack('Temporal', stays, () => {
    letGoOn(service, runId, 2);
    return temporal.start();
  });
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
});

it('ends a run whose agent ended while Temporal was away', async () => {
  const { service } = world;
  const { runId, stays, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  await temporal.kill();
  letGoOn(service, runId, 0, 1, 2);
  await Promise.all([sleep(awayMs), stays.seenFrames(2.8 * framesOfPart, patienceMs)]);
  await temporal.start();
  await expectWhole();
});

it('admits runs while Temporal is away, and starts each once when it is back', async () => {
  await temporal.kill();
  const runIds = [];
  for (let n = 0; n < 5; n += 1) runIds.push(await world.trigger('nothing but an echo'));
  await sleep(awayMs);
  await temporal.start();
  for (const runId of runIds) await world.expectInvariants(runId, { withinMs: patienceMs });
});
