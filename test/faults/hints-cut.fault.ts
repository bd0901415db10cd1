// The connections over which Redis publishes are cut repeatedly. This loses notifications of stored
// messages, for hosts, and of logs, for readers.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { openConversation } from '../support/conversation.ts';
import { linesIn } from '../support/log-lines.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { ownRedis, resetServers } from './support/fault-servers.ts';

const messageCount = 200;

let client: Redis;
let service: Service;
beforeAll(async () => {
  await resetServers();
  const { address } = await ownRedis();
  client = connectRedis({ url: address, name: 'test', onError: () => undefined });
  service = await startService({ on: { redisUrl: address } });
});
afterAll(async () => {
  await service?.stop();
  client?.disconnect();
  await stopFaultTestServers();
});

/** Cuts them about ten times a second until the end. Returns the number of cut connections. */
async function cutSubscribers(isOver: () => boolean): Promise<number> {
  let cut = 0;
  for (let n = 0; !isOver(); n += 1) {
    cut += Number(await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
    await sleep(60 + ((n * 37) % 80));
  }
  return cut;
}

it('runs each of 200 messages once, in order and within a second while subscribers are cut', async () => {
  const chat = await openConversation(service);
  const sent = [(await chat.say(script([{ say: 'First.' }]))).messageId];
  const slowdown = measureSlowdown(service.worker.pid());
  let isOver = false;
  const cutting = cutSubscribers(() => isOver);
  for (let n = 0; n < messageCount; n += 1) {
    const { messageId, texts } = await chat.say(script([{ say: `Message ${n}.` }]));
    expect(texts).toEqual([`Message ${n}.`]);
    sent.push(messageId);
  }
  isOver = true;
  expect(await cutting).toBeGreaterThan(messageCount / 2);
  assertExactlyOnce(chat, sent);
  const turns = linesIn(join(service.dataDir, 'worker.log')).filter(
    ({ msg }) => msg === 'turn_started',
  );
  const waited = turns.slice(1).map(({ waitedMs }) => Number(waitedMs));
  expect(waited).toHaveLength(messageCount);
  const by = (starter: string): number =>
    turns.filter(({ startedBy }) => startedBy === starter).length;
  console.log(`waited at most ${Math.max(...waited)} ms, begun by a hint: ${by('hint')}`);
  expect(Math.max(...waited)).toBeLessThan(1_000 * slowdown());
  for (const starter of ['hint', 'activity']) expect(by(starter)).toBeGreaterThan(1);
  await endSession(service, chat);
});
