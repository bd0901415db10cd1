// A hint wakes a session, new or asleep, while processes die and before its workflow knows of the
// message. The workflow then uses the sandbox, or the sandbox is removed and its slot released.

import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { putToSleep } from '../support/put-to-sleep.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { stackEnv } from '../support/stack-env.ts';
import { failpointsOf } from './support/failpoints-of.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from './support/tcp-hold-proxy.ts';

const pollOptions = { timeout: 60_000 };
const timeout = 240_000;

let service: Service;
let connection: Connection;
let proxy: TcpHoldProxy;
/** Its calls to Temporal can be lost. */
let other: { api: ServiceProcess; client: ApiClient };
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  proxy = await openTcpHoldProxy(`tcp://${stackEnv.temporalAddress}`);
  const { api, url } = await service.anotherApi();
  other = { api, client: createApiClient({ ...service, url }) };
}, timeout);
beforeEach(async () => {
  proxy.restore();
  await restartStopped(service);
  if (!other.api.isRunning()) await other.api.start({ TEMPORAL_ADDRESS: new URL(proxy.url).host });
});
afterAll(async () => {
  await service?.stop();
  await connection?.close();
  proxy?.close();
});

const kinds = ['new', 'sleeping'] as const;
/** The sandbox of a sleeping session passes no other ones in its start. */
const atStart = failpointsOf('start').filter((name) => !/seeded|marked|logged/.test(name));
const say = (text: string): string => script([{ say: text }]);

/** A session without a sandbox, and the messages that it has had. */
async function openAsleep(kind: (typeof kinds)[number]) {
  const chat = await openConversation(service);
  if (kind === 'new') return { chat, sent: [] };
  const sent = [(await chat.say(say('One.'))).messageId];
  await putToSleep(service, connection, chat);
  return { chat, sent };
}

const sendBy = (client: ApiClient, { sessionId }: Conversation, text: string) =>
  client.call<{ messageId: string }>('POST', `/flows/${service.flowId}/chat`, {
    body: { message: say(text), sessionId },
  });

const containersOf = async ({ runId }: Conversation) =>
  (await service.sandboxes.list()).filter((one) => one.runId === runId);

async function expectReleased({ runId }: Conversation): Promise<void> {
  const text = 'select holds_slot, host_id from runs where id = $1';
  const slot = async () => (await service.database.pool.query(text, [runId])).rows[0];
  await expect.poll(slot, pollOptions).toEqual({ holds_slot: false, host_id: null });
}

/** A hint starts the sandbox, and then the API dies before it has signalled the workflow. */
async function wakeWithoutSignal(chat: Conversation): Promise<string> {
  proxy.blockAll();
  const { status, data } = await sendBy(other.client, chat, 'Two.');
  expect(status).toBe(202);
  await expect.poll(async () => (await containersOf(chat))[0]?.state, pollOptions).toBe('running');
  await other.api.kill('SIGKILL');
  proxy.restore();
  return data.messageId;
}

async function expectNextTurn(chat: Conversation, sent: string[]): Promise<void> {
  sent.push(await chat.send(say('Three.')));
  expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ texts: ['Three.'] });
  assertExactlyOnce(chat, sent);
  await endSession(service, chat);
}

describe.each(kinds)('a %s session that a hint wakes', { timeout }, (kind) => {
  it.each(failpointsOf('wake'))('has one turn if the API dies at %s', async (name) => {
    const { chat, sent } = await openAsleep(kind);
    await restartWithFailpoint(service.api, name);
    const chatBody = { sessionId: chat.sessionId, message: say('Two.'), clientMessageId: name };
    const path = `/flows/${service.flowId}/chat`;
    const send = (client: ApiClient) =>
      client.call<{ messageId: string }>('POST', path, { body: chatBody });
    await send(service).catch(() => undefined);
    await restartAfterFailpoint(service.api);
    const { messageId } = (await send(other.client)).data;
    const later = await openConversation(service, { sessionId: chat.sessionId });
    expect(await later.turn(messageId)).toMatchObject({ texts: ['Two.'] });
    await expectNextTurn(later, [...sent, messageId]);
  });

  it.each(atStart)('has one turn if the worker dies at %s', async (name) => {
    const { chat, sent } = await openAsleep(kind);
    await restartWithFailpoint(service.worker, name);
    sent.push((await sendBy(service, chat, 'Two.')).data.messageId);
    await restartAfterFailpoint(service.worker);
    expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ texts: ['Two.'] });
    await expectNextTurn(chat, sent);
  });

  it('begins its turn when its workflow is signalled late', async () => {
    const { chat, sent } = await openAsleep(kind);
    sent.push(await wakeWithoutSignal(chat));
    expect(chat.named('turn_end')).toHaveLength(sent.length - 1);
    expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ texts: ['Two.'] });
    await expectNextTurn(chat, sent);
  });

  it('releases its slot if the message is withdrawn before its workflow knows it', async () => {
    const { chat, sent } = await openAsleep(kind);
    const messageId = await wakeWithoutSignal(chat);
    const path = `/flows/${service.flowId}/sessions/${chat.sessionId}/messages/${messageId}`;
    expect((await service.call('DELETE', path)).status).toBe(200);
    await expectReleased(chat);
    await expect.poll(() => containersOf(chat), pollOptions).toEqual([]);
    await expectNextTurn(chat, sent);
  });

  it('leaves no sandbox if it is stopped before its workflow knows it', async () => {
    const { chat } = await openAsleep(kind);
    await wakeWithoutSignal(chat);
    await endSession(service, chat);
    await expect.poll(() => containersOf(chat), pollOptions).toEqual([]);
  });
});
