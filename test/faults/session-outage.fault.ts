// Each server that a session depends on fails for a while, one after the other, while one message
// is in the middle of its turn and others wait. Each message is sent, processed and ended once, in
// order. The file starts its own servers. Temporal uses the service's Postgres, as it does when the
// service has a machine to itself.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { openFaultConversation, startConversation } from './support/fault-conversation.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import {
  type FaultServer,
  ownEngine,
  ownPostgres,
  ownRedis,
  ownTemporal,
  resetServers,
} from './support/fault-servers.ts';
import { waitForReconnect } from './support/wait-for-reconnect.ts';

let postgres: FaultServer;
let redis: FaultServer;
let temporal: FaultServer;
let engine: FaultServer;
let fixture: FaultFixture;
beforeAll(async () => {
  await resetServers();
  postgres = await ownPostgres();
  redis = await ownRedis();
  temporal = await ownTemporal(postgres.address);
  engine = await ownEngine(true);
  fixture = await startFaultFixture({
    on: {
      postgresUrl: postgres.address,
      redisUrl: redis.address,
      temporalAddress: temporal.address,
      dockerHost: engine.address,
    },
  });
});
afterAll(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});

const downMs = 20_000;
const all = [0, 1, 2, 3];

it('loses no message when Redis is killed and loses its data', async () => {
  const conversation = await startConversation(fixture);
  await redis.kill();
  await conversation.send();
  conversation.releaseAgents([0]);
  await conversation.untilInMiddle(1);
  await waitForReconnect('Redis', conversation.steadyClient, () => {
    conversation.releaseAgents(all);
    return redis.start();
  });
  await conversation.expectComplete();
  expect(conversation.steadyClient.transcript.connections).toHaveLength(1);
});

it('loses no message when Postgres crashes and recovers', async () => {
  const conversation = await startConversation(fixture);
  await postgres.kill();
  conversation.releaseAgents(all);
  const sending = conversation.sendUntilAccepted();
  await sleep(3_000);
  await waitForReconnect('Postgres', conversation.steadyClient, () => postgres.start());
  await sending;
  await conversation.expectComplete();
});

it('accepts messages while Temporal is down, and delivers each to its agent afterwards', async () => {
  const conversation = await startConversation(fixture);
  await temporal.kill();
  await conversation.send();
  const begunMeanwhile = await openFaultConversation(fixture);
  await begunMeanwhile.send();
  conversation.releaseAgents(all);
  await Promise.all([sleep(downMs), conversation.untilEnded(0)]);
  await temporal.start();
  await begunMeanwhile.untilInMiddle(0);
  begunMeanwhile.releaseAgents(all);
  await Promise.all([conversation.expectComplete(), begunMeanwhile.expectComplete()]);
  expect(conversation.steadyClient.transcript.connections).toHaveLength(1);
});

it('loses no message when the engine is killed and its containers keep running', async () => {
  const conversation = await startConversation(fixture);
  await engine.kill();
  await conversation.send();
  await sleep(3_000);
  await waitForReconnect('engine', conversation.steadyClient, () => {
    conversation.releaseAgents(all);
    return engine.start();
  });
  await conversation.expectComplete({ engineWasDown: true });
  expect(conversation.steadyClient.transcript.connections).toHaveLength(1);
});

it('restarts a message once if its container dies with the engine, and fails it the next time', async () => {
  engine = await ownEngine(false);
  const conversation = await startConversation(fixture);
  const engineDies = async (): Promise<void> => {
    await engine.kill();
    await engine.start();
  };
  await engineDies();
  await conversation.untilInMiddle(0, 2);
  conversation.releaseAgents([0], 2);
  await conversation.send();
  await conversation.untilInMiddle(1);
  await engineDies();
  await conversation.untilInMiddle(1, 2);
  await engineDies();
  await conversation.untilInMiddle(2);
  conversation.releaseAgents(all, 4);
  await conversation.expectComplete({
    engineWasDown: true,
    started: [0, 0, 1, 1, 2, 3],
    failed: [1],
  });
});
