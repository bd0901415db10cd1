import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { untilGatewayAnswers } from './support/gateway.ts';
import { isFree } from './support/machine.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const patienceMs = 120_000;

it('loses nothing of a run whose worker is killed twice in its middle', async () => {
  const { service } = world;
  const { runId, stays, comesAndGoes, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  const took = [];
  for (const part of [0, 1] as const) {
    await stays.seenFrames(part * framesOfPart + 1_000, patienceMs);
    await service.worker.kill('SIGKILL');
    letGoOn(service, runId, part === 0 ? 1 : 2);
    took.push(await startAgain(runId, () => stays.frames()));
  }
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
  console.log('after the start of the worker, ms:', took);
  if (!isFree()) return;
  for (const { gatewayMs, frameMs } of took) {
    expect(gatewayMs).toBeLessThan(2_000);
    expect(frameMs).toBeLessThan(15_000);
  }
});

/** How long it took until the gateway answered, and until a frame came. */
async function startAgain(runId: string, frames: () => number) {
  const seen = frames();
  const began = performance.now();
  const ready = world.service.worker.start();
  const gatewayMs = await untilGatewayAnswers(world.service, runId);
  await expect.poll(frames, { timeout: patienceMs, interval: 10 }).toBeGreaterThan(seen);
  const frameMs = performance.now() - began;
  await ready;
  return { gatewayMs: Math.round(gatewayMs), frameMs: Math.round(frameMs) };
}
