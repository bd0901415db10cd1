// More sessions than slots: an idle session is evicted for a session with work.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { HOST_CAPACITY: '2' } });
}, 240_000);
afterAll(() => service?.stop());

const saying = (say: string): string => script([{ say }]);
const waitForRelease = script([{ say: 'working' }, { waitForFile: 'go-on' }]);
const statusOf = async ({ runId }: Conversation) => (await service.readRun(runId)).status;

describe('on a host without a free slot', { timeout: 240_000 }, () => {
  it('a run gets the slot of the longest-idle session, whose next message wakes it up again', async () => {
    const [first, second] = [await openConversation(service), await openConversation(service)];
    expect(await first.say(saying('One.'))).toMatchObject({ exitCode: 0, texts: ['One.'] });
    expect(await second.say(saying('Two.'))).toMatchObject({ exitCode: 0, texts: ['Two.'] });
    const { runId } = await service.trigger({ prompt: saying('Done.') });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    expect(await statusOf(first)).toBe('sleep');
    expect(await statusOf(second)).toBe('running');
    expect(await first.say(saying('Again.'))).toMatchObject({ exitCode: 0, texts: ['Again.'] });
    expect(first.named('finished')).toEqual([]);
    await Promise.all([endSession(service, first), endSession(service, second)]);
  });

  it('six sessions are answered on two slots, one after the other', async () => {
    const chats = await Promise.all(Array.from({ length: 6 }, () => openConversation(service)));
    const turns = await Promise.all(chats.map((chat, n) => chat.say(saying(`I am ${n}.`))));
    for (const [n, turn] of turns.entries()) {
      expect(turn).toMatchObject({ exitCode: 0, texts: [`I am ${n}.`] });
    }
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });

  it('no working session is evicted', async () => {
    const chats = [await openConversation(service), await openConversation(service)];
    const turns = await Promise.all(chats.map((chat) => chat.send(waitForRelease)));
    for (const chat of chats) await chat.until(({ event }) => event === 'chat_output');
    const evictions = service.worker.log().split('"session_eviction_requested"').length;
    const { runId } = await service.trigger({ prompt: saying('Done.') });
    // Heartbeats have requested a slot for it.
    await new Promise((done) => setTimeout(done, 6_000));
    expect(await service.readRun(runId)).toMatchObject({ startedAt: null, finishedAt: null });
    expect(service.worker.log().split('"session_eviction_requested"')).toHaveLength(evictions);
    for (const { runId: session } of chats) releaseAgent(service, session);
    for (const [n, chat] of chats.entries()) {
      expect(await chat.turn(turns[n] ?? '')).toMatchObject({ exitCode: 0 });
    }
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });
});
