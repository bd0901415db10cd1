import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { saying } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ agent: 'real', flow: { instructions: 'OF-THE-FLOW' } });
}, 240_000);
afterAll(() => service?.stop());

describe('the text appended to the system prompt of a session', { timeout: 180_000 }, () => {
  it('reaches the model, and a changed text reaches it from the next turn on', async () => {
    const chat = await openConversation(service, { appendSystemPrompt: 'FIRST-WORDS' });
    const path = `/flows/${service.flowId}/sessions/${chat.sessionId}/config`;
    await chat.say(saying('One.'));
    expect(wordsInLastRequest()).toEqual(['OF-THE-FLOW', 'FIRST-WORDS']);
    await service.call('PATCH', path, { body: { appendSystemPrompt: 'OTHER-WORDS' } });
    await chat.say(saying('Two.'));
    expect(wordsInLastRequest()).toEqual(['OF-THE-FLOW', 'OTHER-WORDS']);
    await service.call('PATCH', path, { body: { appendSystemPrompt: null } });
    expect(await chat.say(saying('Three.'))).toMatchObject({ exitCode: 0, texts: ['Three.'] });
    expect(wordsInLastRequest()).toEqual(['OF-THE-FLOW']);
    expect(chat.named('session_ready')).toHaveLength(3);
  });
});

/** The marker words in the last model request. */
function wordsInLastRequest(): string[] {
  const body = JSON.stringify(service.model.requests().at(-1) ?? null);
  return ['OF-THE-FLOW', 'FIRST-WORDS', 'OTHER-WORDS'].filter((word) => body.includes(word));
}
