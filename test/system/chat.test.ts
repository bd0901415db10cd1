import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 180_000 };

/** Both agents understand it: the scripted one reads its steps, the model its own. */
const saying = (...texts: string[]): string =>
  `@agent ${JSON.stringify(texts.map((say) => ({ say })))}\n@model ${JSON.stringify(texts.map((text) => ({ text })))}`;

describe.each(['scripted', 'real'] as const)('a chat with the %s agent', patiently, (agent) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent });
  }, 240_000);
  afterAll(() => service?.stop());

  it('runs one turn for one message, in the same container', async () => {
    const chat = await openConversation(service);
    expect(await service.readRun(chat.runId)).toMatchObject({ status: 'sleep', agentStatus: null });
    const first = await chat.say(saying('One.'));
    expect(first).toMatchObject({ exitCode: 0, texts: ['One.'] });
    const second = await chat.say(saying('Two.'));
    expect(second).toMatchObject({ exitCode: 0, texts: ['Two.'] });
    expect(chat.named('session_ready').map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      { sessionId: chat.sessionId },
    ]);
    expect(chat.named('finished')).toEqual([]);
    const path = `/flows/${service.flowId}/sessions/${chat.sessionId}`;
    const ended = await service.call('DELETE', path);
    expect(ended.data).toEqual({ sessionId: chat.sessionId, runId: chat.runId, ended: true });
    await chat.closed;
    expect(JSON.parse(chat.events.at(-1)?.data ?? '')).toMatchObject({
      sessionId: chat.sessionId,
      reason: 'stopped',
    });
  });
});
