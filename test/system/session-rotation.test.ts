import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 180_000 };
const pathOf = ({ sessionId }: { sessionId: string }): string =>
  `/flows/${service.flowId}/sessions/${sessionId}`;

describe('the configuration of a session', patiently, () => {
  it('stays until its end and changes only between two turns', async () => {
    const chat = await openConversation(service, {
      env: { TOKEN: 'first-secret', KEPT: 'yes' },
      appendSystemPrompt: 'Be brief.',
    });
    const wait = 'until test -e /workspace/go-on; do sleep 0.1; done';
    const show = script([{ shell: `${wait}; echo "$TOKEN $KEPT"` }]);
    const asleep = await service.call('PATCH', `${pathOf(chat)}/config`, {
      body: { env: { TOKEN: 'second-secret' } },
    });
    expect(asleep.data).toEqual({
      ...{ sessionId: chat.sessionId, effective: 'now', env: ['TOKEN', 'KEPT'] },
      ...{ mcpServers: [], disallowedTools: [], appendSystemPrompt: true },
    });
    const running = await chat.send(show);
    await chat.until(({ event, data }) => event === 'assistant' && /Bash/.test(data));
    const changed = await service.call('PATCH', `${pathOf(chat)}/config`, {
      body: { env: { TOKEN: 'third-secret', KEPT: null }, appendSystemPrompt: null },
    });
    expect(changed.data).toMatchObject({
      ...{ effective: 'next_turn', env: ['TOKEN'], appendSystemPrompt: false },
    });
    releaseAgent(service, chat.runId);
    await chat.turn(running);
    await chat.say(show);
    const shown = chat.events
      .filter(({ event, data }) => event === 'user' && /tool_result/.test(data))
      .map(({ data }) => /(\w+-secret \w*)/.exec(data)?.[1]);
    expect(shown).toEqual(['second-secret yes', 'third-secret ']);
    expect(chat.named('session_ready')).toHaveLength(2);
    const refused = await service.call('PATCH', `${pathOf(chat)}/config`, {
      body: { env: { PATH: '/' } },
    });
    expect(refused.status).toBe(400);
    await endSession(service, chat);
    const gone = await service.call('PATCH', `${pathOf(chat)}/config`, { body: {} });
    expect(gone.status).toBe(404);
  });

  it('that is changed while its sandbox starts applies to the next message', async () => {
    const printToken = script([{ env: 'TOKEN' }]);
    const changedAfter = async (ms: number): Promise<void> => {
      const chat = await openConversation(service, { env: { TOKEN: 'first' } });
      const before = await chat.send(printToken);
      await sleep(ms);
      const body = { env: { TOKEN: 'second' } };
      expect((await service.call('PATCH', `${pathOf(chat)}/config`, { body })).status).toBe(200);
      const after = await chat.send(printToken);
      expect((await chat.turn(after)).texts).toEqual(['TOKEN=second']);
      expect(['TOKEN=first', 'TOKEN=second']).toContain((await chat.turn(before)).texts.join());
      assertExactlyOnce(chat, [before, after]);
      await endSession(service, chat);
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => changedAfter(80 * n)));
  });
});
