import { afterAll, beforeAll, expect, it } from 'vitest';
import { workerComesBack } from './support/comes-back.ts';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const patienceMs = 120_000;

it('loses nothing of a run whose worker is killed twice in its middle', async () => {
  const { service } = world;
  const { worker } = service;
  const { runId, stays, comesAndGoes, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  for (const part of [0, 1] as const) {
    await stays.seenFrames(part * framesOfPart + 1_000, patienceMs);
    await worker.kill('SIGKILL');
    letGoOn(service, runId, part === 0 ? 1 : 2);
    await workerComesBack(service, runId, { worker, client: stays });
  }
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
  expect(world.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
});
