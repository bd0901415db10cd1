import { afterAll, beforeAll, expect, it } from 'vitest';
import { comesBack } from './support/comes-back.ts';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const patienceMs = 120_000;

it('loses nothing for clients that come back after the API was killed', async () => {
  const { service } = world;
  const { runId, stays, comesAndGoes, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  for (const part of [0, 1] as const) {
    await stays.seenFrames(part * framesOfPart + 1_000, patienceMs);
    await service.api.kill('SIGKILL');
    letGoOn(service, runId, part === 0 ? 1 : 2);
    await comesBack('API', stays, () => service.api.start());
  }
  await expectWhole();
  expect(stays.transcript.connections.length).toBeGreaterThan(2);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
});

it('ends streams with the order to come back soon when the API is told to stop', async () => {
  const { service } = world;
  const { runId, stays, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  await stays.seenFrames(1_000, patienceMs);
  await service.api.restart('SIGTERM');
  letGoOn(service, runId, 1, 2);
  await expectWhole();
});
