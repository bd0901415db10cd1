// A message is stored, and its session's workflow has not been signalled yet.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sessionChannel } from '../../core/hosts/host-rpc.ts';
import { createMessageStore } from '../../systems/postgres/sessions/message-store.ts';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { createNotifications, type Notifications } from '../../systems/redis/notifications.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const pauseAfterMs = 1_000;
const pollOptions = { timeout: 30_000 };

let service: Service;
let redis: Redis;
let notifications: Notifications;
beforeAll(async () => {
  // The reconciler, which would signal the workflow instead, runs once at the start.
  const env = { SESSION_PAUSE_AFTER_MS: String(pauseAfterMs), RECONCILE_EVERY_MS: '600000' };
  service = await startService({ env });
  redis = connectRedis({ url: stackEnv.redisUrl, name: 'test', onError: () => undefined });
  notifications = createNotifications(redis, { instance: service.instance });
});
afterAll(async () => {
  notifications?.close();
  redis?.disconnect();
  await service?.stop();
});

async function stateOf({ runId }: Conversation): Promise<string | undefined> {
  return (await service.sandboxes.list()).find((one) => one.runId === runId)?.state;
}

it('pauses again if its workflow was notified of a message that does not exist', async () => {
  const chat = await openConversation(service);
  await chat.say(script([{ say: 'One.' }]));
  await expect.poll(() => stateOf(chat), pollOptions).toBe('paused');
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  const { workflow } = new Client({ connection });
  await workflow.getHandle(`session/${chat.runId}`).signal('message', { messageId: randomUUID() });
  await connection.close();
  await expect.poll(() => stateOf(chat), { ...pollOptions, interval: 20 }).toBe('running');
  await expect.poll(() => stateOf(chat), pollOptions).toBe('paused');
  expect(chat.named('turn_end')).toHaveLength(1);
  await endSession(service, chat);
});

it('pauses after a later message that its agent has completed without a result', async () => {
  const chat = await openConversation(service);
  await chat.say(script([{ say: 'One.' }]));
  const turn = await chat.say(script([{ say: 'Two.' }, { noResult: true }]));
  expect(turn).toMatchObject({ exitCode: 1, texts: ['Two.'] });
  await expect.poll(() => stateOf(chat), pollOptions).toBe('paused');
  expect(await chat.say(script([{ say: 'Three.' }]))).toMatchObject({ exitCode: 0 });
  await endSession(service, chat);
});

it('unpauses its sandbox on a notification, and pauses it again until the message arrives', async () => {
  const chat = await openConversation(service);
  await chat.say(script([{ say: 'One.' }]));
  await expect.poll(() => stateOf(chat), pollOptions).toBe('paused');

  notifications.notify(sessionChannel(chat.runId));
  await sleep(pauseAfterMs);
  expect(await stateOf(chat)).toBe('paused');

  const messages = createMessageStore(service.database.pool);
  const { runId } = chat;
  const message = { runId, messageId: randomUUID(), clientMessageId: null };
  await messages.store({ ...message, text: script([{ say: 'Two.' }]) });
  await sleep(pauseAfterMs);
  expect(await stateOf(chat)).toBe('paused');
  const stateAfterRinging = () => {
    notifications.notify(sessionChannel(runId));
    return stateOf(chat);
  };
  await expect.poll(stateAfterRinging, pollOptions).toBe('running');
  await expect.poll(() => stateOf(chat), pollOptions).toBe('paused');

  expect(await chat.say(script([{ say: 'Three.' }]))).toMatchObject({ exitCode: 0 });
  expect(chat.named('turn_end')).toHaveLength(3);
  await endSession(service, chat);
});
