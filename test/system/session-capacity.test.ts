import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

const waitingMs = 3_000;

let service: Service;
beforeAll(async () => {
  const env = { HOST_CAPACITY: '1', NO_CAPACITY_TIMEOUT_MS: String(waitingMs) };
  service = await startService({ env });
}, 240_000);
afterAll(() => service?.stop());

const waitForRelease = script([{ say: 'working' }, { waitForFile: 'go-on' }]);
const saying = (say: string): string => script([{ say }]);

async function occupySlot(): Promise<string> {
  const { runId } = await service.trigger({ prompt: waitForRelease });
  await untilWorking(service, { runId });
  return runId;
}

async function releaseRun(runId: string): Promise<void> {
  releaseAgent(service, runId);
  await service.untilEnded(runId);
}

async function entriesOf({ runId }: Conversation): Promise<string[]> {
  const path = `/runs/${runId}/logs?format=structured&channel=chat`;
  const { data } = await service.call<{ entries: { event: string }[] }>('GET', path);
  return data.entries.map(({ event }) => event);
}

describe('a message without a host that has a free slot', { timeout: 180_000 }, () => {
  it('fails with the reason; the session stays, and its next message is answered', async () => {
    const busy = await occupySlot();
    const chat = await openConversation(service);
    const [first, second] = [await chat.send(saying('never')), await chat.send(saying('nor this'))];
    for (const message of [first, second]) {
      const turn = await chat.turn(message, 60_000);
      expect(turn).toMatchObject({ exitCode: 1, texts: [expect.stringMatching(/no capacity/)] });
    }
    expect(await service.readRun(chat.runId)).toMatchObject({
      ...{ status: 'sleep', agentStatus: 'error', finishedAt: null, startedAt: null },
    });
    for (const { data } of chat.named('turn_end')) {
      expect(JSON.parse(data)).toMatchObject({ exitCode: 1, error: 'no_capacity' });
    }
    expect((await entriesOf(chat)).join()).toBe(
      'user_message,chat_output,turn_end,user_message,chat_output,turn_end',
    );
    const path = `/flows/${service.flowId}/chat`;
    const { sessionId } = chat;
    const body = { message: saying('no'), sessionId, stream: false };
    const waited = await service.call('POST', path, { body });
    expect(waited).toMatchObject({
      status: 200,
      data: { exitCode: 1, error: 'no_capacity', text: expect.stringMatching(/no capacity/) },
    });
    await releaseRun(busy);
    expect(await chat.say(saying('Here.'))).toMatchObject({ exitCode: 0, texts: ['Here.'] });
    expect(await service.readRun(chat.runId)).toMatchObject({ status: 'running' });
    expect(chat.named('turn_end')).toHaveLength(4);
    expect(chat.named('finished')).toEqual([]);
    await service.call('DELETE', `/flows/${service.flowId}/sessions/${sessionId}`);
    await chat.closed;
  });

  it('releases the slot in its project', async () => {
    const busy = await occupySlot();
    const chat = await openConversation(service);
    expect(await chat.say(saying('never'))).toMatchObject({ exitCode: 1 });
    const known = 'select count(*) as taken from runs r where occupies_slot(r)';
    const { rows } = await service.database.pool.query(known);
    expect(rows).toEqual([{ taken: 1 }]);
    await releaseRun(busy);
    await service.call('DELETE', `/flows/${service.flowId}/sessions/${chat.sessionId}`);
    await chat.closed;
  });
});
