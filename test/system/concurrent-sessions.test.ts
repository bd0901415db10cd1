import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { running } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 300_000 };

/** Both agents wait inside a tool until the test releases them, and print their own values. */
function showing(n: number): string {
  const command =
    'echo "own $NUMBER" > own; touch begun; until test -e go-on; do sleep 0.1; done; cat own';
  return running(command, `I am ${n}.`);
}

const shownIn = (chat: Conversation): (string | undefined)[] =>
  chat
    .named('user')
    .map(({ data }) => /own number-\d+/.exec(data)?.[0])
    .filter((found) => found !== undefined);

// Ten starts of the real agent take two cores a minute and show nothing that four do not.
describe.each([
  ['scripted', 10],
  ['real', 4],
] as const)('with the %s agent', patiently, (agent, count) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent });
  }, 240_000);
  afterAll(() => service?.stop());

  it(`runs ${count} sessions on one host at the same time without mixing them up`, async () => {
    const chats = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        openConversation(service, { env: { NUMBER: `number-${n}` } }),
      ),
    );
    const sent = await Promise.all(chats.map((chat, n) => chat.send(showing(n))));
    for (const chat of chats)
      await chat.until(({ event, data }) => event === 'filetree' && data.includes('begun'));
    const states = (await service.sandboxes.list()).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: count }, () => 'running'));
    for (const { runId, named } of chats) {
      expect(named('turn_end')).toEqual([]);
      expect(await service.readRun(runId)).toMatchObject({ agentStatus: 'working' });
      releaseAgent(service, runId);
    }
    for (const [n, chat] of chats.entries()) {
      expect(await chat.turn(sent[n] ?? '')).toMatchObject({ exitCode: 0, texts: [`I am ${n}.`] });
      expect(shownIn(chat)).toEqual([`own number-${n}`]);
      expect(chat.named('turn_end')).toHaveLength(1);
    }
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });
});
