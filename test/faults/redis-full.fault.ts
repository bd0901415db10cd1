import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { machineMs } from '../fixtures/scripted-agent/machine-clock.ts';
import { openConversation } from '../support/conversation.ts';
import { fillRedis } from '../support/fill-redis.ts';
import { saying, script } from '../support/prompts.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { ownRedis, resetServers } from './support/fault-servers.ts';
import type { Client } from './support/transcript.ts';

const timeoutMs = 120_000;
/** Far below the interval at which an API process polls for lost notifications. */
const lateMs = 400;
const idleMs = 5_000;

let client: Redis;
let fixture: FaultFixture;
beforeAll(async () => {
  await resetServers();
  const redis = await ownRedis({ maxMemory: '16mb' });
  client = connectRedis({ url: redis.address, name: 'test', onError: () => undefined });
  const env = { SESSION_IDLE_MS: `${idleMs}`, SESSION_ATTENDED_IDLE_MS: '60000' };
  fixture = await startFaultFixture({ env, on: { redisUrl: redis.address } });
});
afterAll(async () => {
  await fixture?.stop();
  client?.disconnect();
  await stopFaultTestServers();
});

/** From the line of the agent to the client. */
function delaysMs({ transcript }: Client): number[] {
  const sinceBootMs = machineMs() - performance.now();
  return transcript.connections.flatMap(({ events }) =>
    events.flatMap(({ event, data, at }) => {
      const [, saidAt] = (event === 'assistant' && /saidAt\\":([\d.]+)/.exec(data)) || [];
      return saidAt === undefined ? [] : [at + sinceBootMs - Number(saidAt)];
    }),
  );
}

it('loses nothing when four runs with 20 MiB of frames each share 16 MiB', async () => {
  // A line makes two frames: raw and rendered.
  const lines = { repeat: 1_000, steps: [{ say: `{{n}} ${'y'.repeat(10_000)}` }] };
  const prompt = script([lines, { say: 'done' }]);
  const runIds = await Promise.all([1, 2, 3, 4].map(() => fixture.trigger(prompt)));
  const clients = runIds.map((runId) => fixture.follow(runId, { name: `client of ${runId}` }));
  for (const [n, runId] of runIds.entries()) {
    const reader = clients[n] as Client;
    await reader.untilFinished(timeoutMs);
    const { log } = await fixture.expectInvariants(runId, { clients: [reader] });
    expect(log.length).toBeGreaterThan(2_000);
    expect(reader.transcript.connections).toHaveLength(1);
  }
});

it('delivers frames at once, and token by token, while Redis is full', async () => {
  const empty = await fillRedis(client);
  const clocks = Array.from({ length: 12 }, () => [{ sleepMs: 350 }, { clock: true }]).flat();
  const runId = await fixture.trigger(script(clocks));
  const reader = fixture.follow(runId, { name: 'reader' });
  const chat = await openConversation(fixture.service, { partialMessages: true });
  await chat.say(saying('Words, one after the other.'));
  const deltas = chat.named('stream_event').map(({ data }) => data);
  const text = deltas.map((data) => /"text_delta","text":"([^"]*)"/.exec(data)?.[1]).join('');
  expect(text).toBe('Words, one after the other.');
  await reader.untilFinished(timeoutMs);
  const delays = delaysMs(reader);
  console.log('from line to client, ms:', delays.map(Math.round).join(' '));
  expect(delays).toHaveLength(12);
  expect(delays.toSorted((a, b) => a - b)[8]).toBeLessThan(lateMs);
  await empty();
});

it('keeps a session awake whose stream has a reader while Redis is full', async () => {
  const empty = await fillRedis(client);
  const chat = await openConversation(fixture.service);
  await chat.say(script([{ say: 'Here.' }]));
  await sleep(2.5 * idleMs);
  expect((await fixture.service.readRun(chat.runId)).status).toBe('running');
  await empty();
});
