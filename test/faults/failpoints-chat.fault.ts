// An API process dies while it accepts a message. The other one stays up: the test follows the
// session and resends the message through it, and later also through the restarted one.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Failpoint } from '../../core/failpoint.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { failpointsOf } from './support/failpoints-of.ts';

let service: Service;
let otherApi: ApiClient & { flowId: string };
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
  const { api, url } = await service.anotherApi();
  await api.start();
  otherApi = { ...createApiClient({ ...service, url }), flowId: service.flowId };
});
beforeEach(() => restartStopped(service));
afterAll(() => service?.stop());

interface Sent {
  sessionId: string;
  runId: string;
  messageId: string;
}

/** Each line that it appends to the file `ran` counts as one execution. */
const noting = (word: string): string =>
  script([{ shell: `echo ${word} >> /workspace/ran` }, { say: `Noted ${word}.` }]);

const ranIn = (runId: string): string =>
  readFileSync(join(foldersOf(service.dataDir, { runId, generation: 1 }).workspace, 'ran'), 'utf8');

const send = (by: ApiClient, body: Record<string, unknown>) =>
  by.call<Sent>('POST', `/flows/${service.flowId}/chat`, { body });

const idsOf = (chat: Conversation, event: string): unknown[] =>
  chat.named(event).map(({ data }) => (JSON.parse(data) as { messageId: string }).messageId);

/** Resends before the dead API is back, then through both at once: one answer. */
async function sendAgain(body: Record<string, unknown>): Promise<Sent> {
  const first = await send(otherApi, body);
  await restartAfterFailpoint(service.api);
  const again = await Promise.all([service, otherApi, service].map((by) => send(by, body)));
  for (const { status, data } of [first, ...again]) {
    expect(status).toBe(202);
    expect(data.messageId).toBe(first.data.messageId);
    expect(data.runId).toBe(first.data.runId);
  }
  return first.data;
}

/** A message is answered before its session's workflow is signalled. */
async function sendToDying(name: Failpoint, body: Record<string, unknown>): Promise<void> {
  const sending = send(service, body);
  if (name === 'chat.stored') await expect(sending).rejects.toThrow();
  else await sending.catch(() => undefined);
}

describe('a message whose API dies', { timeout: 240_000 }, () => {
  it.each(failpointsOf('chat'))('at %s has one turn, sent again or not', async (name) => {
    const chat = await openConversation(otherApi);
    const { sessionId, runId } = chat;
    await restartWithFailpoint(service.api, name);
    const again = { message: noting('again'), sessionId, clientMessageId: 'again' };
    await sendToDying(name, again);
    const { messageId } = await sendAgain(again);
    expect(await chat.turn(messageId)).toMatchObject({ exitCode: 0, texts: ['Noted again.'] });

    await restartWithFailpoint(service.api, name);
    const alone = { message: noting('alone'), sessionId, clientMessageId: 'alone' };
    await sendToDying(name, alone);
    await restartAfterFailpoint(service.api, async () => {
      await chat.until(({ event, data }) => event === 'chat_output' && /Noted alone/.test(data));
    });
    const late = await Promise.all([again, alone].map((body) => send(service, body)));
    expect(late.map(({ status }) => status)).toEqual([202, 202]);
    const sent = late.map(({ data }) => data.messageId);
    expect(sent[0]).toBe(messageId);
    expect(await chat.turn(sent[1] ?? '')).toMatchObject({ exitCode: 0 });

    // Late frames would arrive before this one.
    sent.push(await chat.send(noting('last')));
    await chat.turn(sent[2] ?? '');
    for (const event of ['user_message', 'turn_end']) expect(idsOf(chat, event)).toEqual(sent);
    expect(ranIn(runId)).toBe('again\nalone\nlast\n');
    await endSession(service, chat);
  });

  it.each(failpointsOf('chat'))(
    'at %s, the first of its session, opens one session',
    async (name) => {
      await restartWithFailpoint(service.api, name);
      const body = { message: noting('first'), clientMessageId: name };
      await sendToDying(name, body);
      const { sessionId, runId, messageId } = await sendAgain(body);
      const waited = await send(otherApi, { ...body, stream: false });
      expect(waited).toMatchObject({
        status: 200,
        data: { sessionId, runId, messageId, text: 'Noted first.', exitCode: 0 },
      });
      expect(ranIn(runId)).toBe('first\n');
      const { pool } = service.database;
      const known = 'select id from session_messages where run_id = $1';
      expect((await pool.query(known, [runId])).rows).toEqual([{ id: messageId }]);
      const query = `select event from frames
                  where run_id = $1 and event in ('user_message', 'turn_end') order by seq`;
      const events = (await pool.query<{ event: string }>(query, [runId])).rows;
      expect(events.map(({ event }) => event)).toEqual(['user_message', 'turn_end']);
      await service.call('DELETE', `/flows/${service.flowId}/sessions/${sessionId}`);
    },
  );
});
