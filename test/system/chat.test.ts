import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { saying, scriptForBoth } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { payload, statusesOf } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };

const failing = scriptForBoth([{ fail: 'no' }], [{ status: 400, times: 100 }]);
/** Works in a tool that never ends on its own. */
const command = 'until test -e /workspace/never; do sleep 0.1; done';
const hanging = scriptForBoth([{ shell: command }], [{ tool: 'Bash', input: { command } }]);

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
    const failed = await chat.say(failing);
    expect(failed).toMatchObject({ exitCode: 1 });
    expect(chat.named('turn_end').map(payload)).toEqual(
      [first, second, failed].map(({ messageId, exitCode }) => ({
        ...{ exitCode, sessionId: chat.sessionId, messageId },
      })),
    );
    const statuses = ['working', 'idle', 'working', 'idle', 'working', 'error'];
    expect(statusesOf(chat.events)).toEqual(statuses);
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

  it('continues with the queued messages when it is interrupted; between turns an interrupt has no effect', async () => {
    const chat = await openConversation(service);
    const interrupt = () => service.call('POST', `/runs/${chat.runId}/interrupt`);
    const working = await chat.send(hanging);
    const waiting = await chat.send(saying('I waited.'));
    await chat.until(({ event, data }) => event === 'assistant' && data.includes('never'));
    expect(await interrupt()).toMatchObject({ status: 200, data: { runId: chat.runId } });
    expect(await chat.turn(working)).toMatchObject({ exitCode: 1 });
    expect(await chat.turn(waiting)).toMatchObject({ exitCode: 0, texts: ['I waited.'] });
    expect(await interrupt()).toMatchObject({ status: 200, data: { agentStatus: 'idle' } });
    expect(await chat.say(saying('Next.'))).toMatchObject({ exitCode: 0, texts: ['Next.'] });
    expect(chat.named('turn_end')).toHaveLength(3);
    expect(chat.named('session_ready')).toHaveLength(1);
    await endSession(service, chat);
  });
});
