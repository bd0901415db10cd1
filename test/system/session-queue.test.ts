import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession, untilAsleep } from '../support/run-states.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  const env = { SESSION_IDLE_MS: '3000', SESSION_ATTENDED_IDLE_MS: '3000' };
  service = await startService({ env: { ...env, RECONCILE_EVERY_MS: '1000' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 180_000 };
const saying = (say: string): string => script([{ say }]);
const pathOf = ({ sessionId }: Conversation): string =>
  `/flows/${service.flowId}/sessions/${sessionId}`;

describe('messages that arrive while a session', patiently, () => {
  it('is set up, works, sleeps and wakes up have one turn each, in order of arrival', async () => {
    const chat = await openConversation(service);
    const texts = Array.from({ length: 9 }, (_, n) => `Number ${n}.`);
    const [first, second, ...others] = texts.map(saying);
    const sent = [await chat.send(first ?? ''), await chat.send(second ?? '')];
    await chat.until(({ event }) => event === 'session_ready');
    for (const message of others.slice(0, 2)) sent.push(await chat.send(message));
    await chat.turn(sent.at(-1) ?? '');
    await untilAsleep(service, chat);
    for (const message of others.slice(2)) {
      sent.push(await chat.send(message));
      await sleep(100);
    }
    await chat.turn(sent.at(-1) ?? '');
    expect(saidIn(chat)).toEqual(texts);
    expect(chat.named('session_ready')).toHaveLength(2);
    assertExactlyOnce(chat, sent);
    await endSession(service, chat);
  });

  it('is between two sandboxes have one turn each, after the repeated one', async () => {
    const chat = await openConversation(service);
    const once = 'test -e once || { touch once; sleep 600; }';
    const sent = [await chat.send(script([{ shell: once }, { say: 'Again.' }]))];
    sent.push(await chat.send(saying('Before.')));
    await chat.until(({ event, data }) => event === 'filetree' && /once/.test(data));
    const own = (await service.sandboxes.list()).find(({ runId }) => runId === chat.runId);
    await service.sandboxes.signal(own?.containerId ?? '', 'SIGKILL');
    for (const text of ['One.', 'Two.', 'Three.']) {
      sent.push(await chat.send(saying(text)));
      await sleep(300);
    }
    await chat.turn(sent.at(-1) ?? '');
    expect(saidIn(chat)).toEqual(['Again.', 'Before.', 'One.', 'Two.', 'Three.']);
    assertExactlyOnce(chat, sent);
    await endSession(service, chat);
  });

  it('is being ended fail or are rejected; later ones start nothing', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('Here.'));
    const before = chat.named('turn_end').length;
    const body = { message: saying('Late.'), sessionId: chat.sessionId };
    const send = () =>
      service.call<{ messageId: string }>('POST', `/flows/${service.flowId}/chat`, { body });
    const early = Array.from({ length: 4 }, send);
    const ending = service.call('DELETE', pathOf(chat));
    const answers = await Promise.all([...early, ...Array.from({ length: 4 }, send)]);
    expect((await ending).status).toBe(200);
    await chat.closed;
    const taken = answers.filter(({ status }) => status === 202);
    for (const { status } of answers) expect([202, 404]).toContain(status);
    expect(chat.named('turn_end')).toHaveLength(before + taken.length);
    for (const { data } of taken) await chat.turn(data.messageId);

    const rows = 'select count(*)::int as n from session_messages where run_id = $1';
    const stored = async () =>
      (await service.database.pool.query<{ n: number }>(rows, [chat.runId])).rows[0]?.n;
    const kept = await stored();
    const late = await Promise.all(Array.from({ length: 5 }, send));
    expect(late.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    await sleep(3_000);
    expect(await stored()).toBe(kept);
    expect(kept).toBe(1 + taken.length);
    const left = (await service.sandboxes.list()).filter(({ runId }) => runId === chat.runId);
    expect(left.filter(({ state }) => state === 'running')).toEqual([]);
    expect(await service.readRun(chat.runId)).toMatchObject({ error: 'stopped_by_api' });
  });
});

describe('messages that are withdrawn', patiently, () => {
  const takeBack = (chat: Conversation, messageId: string) =>
    service.call('DELETE', `${pathOf(chat)}/messages/${messageId}`);
  const idOf = ({ data }: { data: string }): string =>
    (JSON.parse(data) as { messageId: string }).messageId;

  it('while others run have no turn or one turn, and never half of each', async () => {
    const chat = await openConversation(service);
    const delivered: string[] = [];
    const withdrawn: string[] = [];
    for (let n = 0; n < 16; n += 1) {
      delivered.push(await chat.send(saying(`Number ${n}.`)));
      const messageId = await chat.send(saying(`Late ${n}.`));
      // In the first round the container is not up. Later the two race.
      if (n > 0) await chat.until((event) => isOf(event, 'user_message', delivered.at(-1)));
      await sleep(4 * n);
      const { status } = await takeBack(chat, messageId);
      expect([200, 409]).toContain(status);
      (status === 200 ? withdrawn : delivered).push(messageId);
    }
    const last = await chat.send(saying('Last.'));
    await chat.turn(last);
    assertExactlyOnce(chat, [...delivered, last]);
    expect(chat.named('message_withdrawn').map(idOf)).toEqual(withdrawn);
    expect(withdrawn).not.toEqual([]);
    const { status } = await takeBack(chat, last);
    expect(status).toBe(409);
    await endSession(service, chat);
  });

  it('from a sleeping session leave it without a slot, and the next message wakes it', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('Here.'));
    // A test process that pauses here may be too late. Then the message has its turn.
    let status = 0;
    for (let tries = 0; tries < 5 && status !== 200; tries += 1) {
      await untilAsleep(service, chat);
      const messageId = await chat.send(saying('Here.'));
      ({ status } = await takeBack(chat, messageId));
      if (status !== 200) await chat.turn(messageId);
    }
    expect(status).toBe(200);
    const slots = `select from runs where id = $1 and holds_slot`;
    const { pool } = service.database;
    const held = async () => (await pool.query(slots, [chat.runId])).rowCount;
    await expect.poll(held, { timeout: 60_000 }).toBe(0);
    const next = await chat.say(saying('Again.'));
    expect(next.texts).toEqual(['Again.']);
    expect(chat.named('turn_end')).toHaveLength(saidIn(chat).length);
    expect(chat.named('message_withdrawn')).toHaveLength(1);
    await endSession(service, chat);
  });

  const isOf = (event: SentEvent, name: string, messageId: string | undefined): boolean =>
    event.event === name && idOf(event) === messageId;
});

const saidIn = (chat: Conversation): string[] =>
  chat.named('chat_output').map(({ data }) => (JSON.parse(data) as { text: string }).text);
