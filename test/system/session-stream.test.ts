import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../../systems/redis/connect.ts';
import { redisKeys } from '../../systems/redis/keys.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession, untilAsleep } from '../support/run-states.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { payload } from '../support/stream-story.ts';

let service: Service;
beforeAll(async () => {
  const env = { SESSION_IDLE_MS: '3000', SESSION_ATTENDED_IDLE_MS: '3000' };
  service = await startService({ env: { ...env, RECONCILE_EVERY_MS: '1000' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 180_000 };
const saying = (say: string): string => script([{ say }]);
const numbered = (events: SentEvent[]) => events.filter(({ id }) => id !== undefined);
/** An agent may print more after the end of its turn. */
const toLastTurn = (events: SentEvent[]) =>
  events.slice(0, events.findLastIndex(({ event }) => event === 'turn_end') + 1);
const after = (events: SentEvent[], id: string | undefined) =>
  numbered(toLastTurn(events)).filter((event) => Number(event.id) > Number(id));

describe('the stream of a session', patiently, () => {
  it('stays open over turns and sandboxes, and is replayed to a client that reconnects', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('One.'));
    await untilAsleep(service, chat);
    await chat.say(saying('Two.'));
    const ids = numbered(chat.events).map(({ id }) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(chat.named('session_ready')).toHaveLength(2);
    expect(chat.named('finished')).toEqual([]);

    const firstEnd = chat.named('turn_end')[0]?.id;
    const resumed = await readUntil(chat, { turnEnds: 1, lastEventId: firstEnd });
    expect(numbered(resumed)).toEqual(after(chat.events, firstEnd));
    const fresh = await readUntil(chat, { turnEnds: 2 });
    expect(fresh[0]?.event).toBe('status');
    expect(fresh.filter(({ event }) => event === 'replay_truncated')).toEqual([]);
    const [rendered] = fresh.filter(({ event }) => event === 'output');
    expect(rendered).toMatchObject({ id: undefined, data: expect.stringContaining('One.') });
    expect(rendered?.data).toContain('Two.');
    const isFrame = ({ event }: SentEvent): boolean => event !== 'output';
    expect(numbered(fresh).filter(isFrame)).toEqual(
      numbered(toLastTurn(chat.events)).filter(isFrame),
    );
    await endSession(service, chat);
    expect(chat.events.at(-1)?.event).toBe('finished');
    expect(chat.named('finished')).toHaveLength(1);
  });

  it('delays no turn without a reader, and replays the turn to a client that reconnects during it', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('Before.'));
    const lastEventId = numbered(chat.events).at(-1)?.id;
    const message = await chat.send(
      script([{ say: 'a' }, { sleepMs: 1_500 }, { say: 'b' }, { sleepMs: 1_500 }, { say: 'c' }]),
    );
    await chat.until(({ event, data }) => event === 'chat_output' && data.includes('"b"'));
    const resumed = await readUntil(chat, { turnEnds: 1, lastEventId });
    await chat.turn(message);
    expect(numbered(resumed)).toEqual(after(chat.events, lastEventId));
    const texts = resumed.filter(({ event }) => event === 'chat_output');
    expect(texts.map(({ data }) => JSON.parse(data) as unknown)).toEqual(
      ['a', 'b', 'c'].map((text) => ({ text })),
    );
    await endSession(service, chat);
  });

  it('reports a truncated replay, and the log has the rest under the same numbers', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('One.'));
    await chat.say(saying('Two.'));
    await forgetBuffer(chat);
    const whole = await readUntil(chat, { turnEnds: 2 });
    expect(whole.map(({ event }) => event)).not.toContain('replay_truncated');

    const path = `/runs/${chat.runId}/logs?format=structured&channel=chat&limit=1000`;
    const backfill = async () =>
      (
        await service.call<{ entries: { seq: number; event: string; data: unknown }[] }>(
          'GET',
          path,
        )
      ).data.entries;
    const all = await backfill();
    const asSent = (seq: number) => {
      const sent = chat.events.find(({ id }) => id === String(seq));
      return { seq, event: sent?.event, data: JSON.parse(sent?.data ?? 'null') as unknown };
    };
    expect(all.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['user_message', 'chat_output', 'assistant', 'result', 'turn_end']),
    );
    for (const { seq, event, data } of all) expect({ seq, event, data }).toEqual(asSent(seq));

    const cut = Number(chat.named('turn_end')[0]?.id);
    const remove = 'delete from frames where run_id = $1 and seq <= $2';
    await service.database.pool.query(remove, [chat.runId, cut]);
    await forgetBuffer(chat);
    const rest = await readUntil(chat, { turnEnds: 1 });
    const truncated = rest.filter(({ event }) => event === 'replay_truncated');
    expect(truncated.map(({ id, data }) => [id, JSON.parse(data) as unknown])).toEqual([
      [undefined, { instanceId: chat.runId, firstAvailableSeq: cut + 1 }],
    ]);
    const names = rest.map(({ event }) => event);
    expect(names.indexOf('replay_truncated')).toBeLessThan(names.indexOf('user_message'));
    expect(await backfill()).toEqual(all.filter(({ seq }) => seq > cut));
    await endSession(service, chat);
  });

  it('renames agent events with reserved names, and starts with the tail of the log', async () => {
    const chat = await openConversation(service);
    const own = ['status', 'turn_end', 'filetree', 'output'].map((type) => `{"type":"${type}"}`);
    await chat.say(script(own.map((raw) => ({ raw }))));
    const told = chat.events.filter(({ data }) => own.includes(data));
    expect(told.map(({ event, data }) => [event, data])).toEqual(
      own.map((line) => ['stream', line]),
    );
    expect(chat.named('turn_end')).toHaveLength(1);
    await chat.say(script([{ repeat: 1_200, steps: [{ raw: `{{n}} ${'ü'.repeat(500)}` }] }]));
    const whole = chat
      .named('output')
      .map((event) => String(payload(event)['data']))
      .join('');
    const rendered = (await readUntil(chat, { turnEnds: 2 })).filter(
      ({ event }) => event === 'output',
    );
    const [tail] = rendered.map((event) => String(payload(event)['data']));
    expect(rendered).toMatchObject([{ id: undefined }]);
    const bytes = Buffer.byteLength(tail ?? '');
    expect(bytes).toBeLessThanOrEqual(1024 ** 2);
    expect(bytes).toBeGreaterThan(1024 ** 2 - 1_100);
    expect(whole.endsWith(`\n${tail}`)).toBe(true);
    await endSession(service, chat);
  });

  it('shows the working directory after each turn that changed it, at most every two seconds', async () => {
    const chat = await openConversation(service);
    const began = performance.now();
    const path = '/workspace/{{n}}';
    const writing = { repeat: 40, steps: [{ write: { path, content: '' } }, { sleepMs: 100 }] };
    const names = ({ data }: SentEvent) => (JSON.parse(data) as { name: string }[]).map(nameOf);
    const isTree = (wanted: string[]) => (event: SentEvent) =>
      event.event === 'filetree' && names(event).join() === wanted.join();
    await chat.say(script([writing]));
    const all = Array.from({ length: 40 }, (_, n) => String(n + 1)).sort();
    await chat.until(isTree(all));
    const looks = (performance.now() - began) / 2_000;
    expect(chat.named('filetree').length).toBeLessThanOrEqual(1 + looks);
    await chat.say(script([{ shell: 'rm *; touch left' }]));
    await chat.until(isTree(['left']));
    const [shown] = (await readUntil(chat, { turnEnds: 1 })).slice(1);
    expect(shown).toMatchObject({
      event: 'filetree',
      id: undefined,
      data: chat.named('filetree').at(-1)?.data,
    });
    await endSession(service, chat);
  });

  it('has the output of each of its sandboxes token by token if requested', async () => {
    const chat = await openConversation(service, { partialMessages: true });
    const plain = await openConversation(service);
    await Promise.all([chat.say(saying('First words.')), plain.say(saying('First words.'))]);
    await untilAsleep(service, chat);
    await chat.say(saying('Second words.'));
    const deltas = chat.named('stream_event');
    expect(deltas.every(({ id }) => id === undefined)).toBe(true);
    const text = deltas.map(({ data }) => /"text_delta","text":"([^"]*)"/.exec(data)?.[1]).join('');
    expect(text).toBe('First words.Second words.');
    for (const name of ['message_start', 'content_block_delta', 'message_stop']) {
      expect(deltas.filter(({ data }) => data.includes(`"${name}"`)).length).toBeGreaterThan(1);
    }
    expect(plain.named('stream_event')).toEqual([]);
    await Promise.all([endSession(service, chat), endSession(service, plain)]);
  });
});

const nameOf = ({ name }: { name: string }): string => name;

/** The events of another reader, up to that many ends of turns. */
async function readUntil(
  { runId }: Conversation,
  { turnEnds, lastEventId }: { turnEnds: number; lastEventId?: string | undefined },
): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  let left = turnEnds;
  for await (const event of service.stream(runId, lastEventId)) {
    events.push(event);
    if (event.event === 'turn_end') left -= 1;
    if (left === 0) break;
  }
  return events;
}

async function forgetBuffer({ runId }: Conversation): Promise<void> {
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'test', onError: () => undefined });
  await once(redis, 'ready');
  await redis.del(redisKeys(service.instance).frames(runId));
  redis.disconnect();
}
