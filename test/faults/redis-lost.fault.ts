import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopOwnParts } from '../../dev/own-parts.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { comesBack } from './support/comes-back.ts';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { freshOwnParts, type OwnPart, ownRedis } from './support/own-parts.ts';
import { startWorld, type World } from './support/world.ts';

let redis: OwnPart;
let client: Redis;
let world: World;
beforeAll(async () => {
  await freshOwnParts();
  redis = await ownRedis();
  client = connectRedis({ url: redis.address, name: 'test', onError: () => undefined });
  world = await startWorld({ on: { redisUrl: redis.address } });
});
afterAll(async () => {
  await world?.stop();
  client?.disconnect();
  await stopOwnParts();
});

const patienceMs = 120_000;

it('loses nothing when Redis is flushed, and when its connections are cut', async () => {
  const { service } = world;
  const { runId, stays, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0, 1, 2);
  const goingOn = { yes: true };
  const trouble = async (): Promise<void> => {
    for (let n = 0; goingOn.yes; n += 1) {
      if (n % 2 === 0) await client.flushall();
      else await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      if (n % 5 === 0) await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };
  const troubled = trouble();
  await stays.seenFrames(2.5 * framesOfPart, patienceMs);
  goingOn.yes = false;
  await troubled;
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
});

it('loses nothing when Redis is killed, is away for a while, and has forgotten everything', async () => {
  const { service } = world;
  const { runId, stays, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  await stays.seenFrames(1_000, patienceMs);
  await redis.kill();
  letGoOn(service, runId, 1);
  await stays.seenFrames(2 * framesOfPart, patienceMs);
  await comesBack('Redis', stays, () => {
    letGoOn(service, runId, 2);
    return redis.start();
  });
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
});

it('admits and ends runs while Redis is away', async () => {
  await redis.kill();
  const runId = await world.trigger('nothing but an echo');
  const reader = world.follow(runId, { name: 'who reads the log' });
  await reader.seenEnd(patienceMs);
  await world.expectInvariants(runId, { clients: [reader] });
  await redis.start();
});
