import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { openConversation } from '../support/conversation.ts';
import { running, saying, scriptForBoth } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { collect, payload } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };

const untilToldOnce = 'echo ran >> ran; until test -e go-on; do sleep 0.1; done';
const counting = 'echo "ran $(wc -l < ran) times"';

describe.each(['scripted', 'real'] as const)('a session of the %s agent', patiently, (agent) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent, env: { RECONCILE_EVERY_MS: '1000' } });
  }, 240_000);
  afterAll(() => service?.stop());

  it.each([
    ['while the worker is away', true],
    ['when the worker is back', false],
  ])(
    'continues in its container whose tool ends %s, with each message once',
    async (_when, away) => {
      const chat = await openConversation(service);
      const sent = [await chat.send(running(untilToldOnce, 'Done.'))];
      sent.push(await chat.send(running(counting, 'Counted.')));
      await chat.until(({ event, data }) => event === 'filetree' && /"ran"/.test(data));
      await service.worker.kill('SIGKILL');
      if (away) releaseAgent(service, chat.runId);
      sent.push(await chat.send(running(counting, 'Counted again.')));
      await service.worker.start();
      if (!away) releaseAgent(service, chat.runId);
      const turns = await Promise.all(sent.map((message) => chat.turn(message)));
      const texts = turns.map((turn) => turn.texts);
      expect(texts).toEqual([['Done.'], ['Counted.'], ['Counted again.']]);
      const counts = chat.named('user').map(({ data }) => /ran \d+ times/.exec(data)?.[0]);
      expect(counts.filter(Boolean)).toEqual(['ran 1 times', 'ran 1 times']);
      assertExactlyOnce(chat, sent);
      expect(chat.named('session_ready')).toHaveLength(1);
      await endSession(service, chat);
    },
  );

  it('is shown with each message and answer once by a client that replaces a lost attempt', async () => {
    const chat = await openConversation(service);
    const texts = [saying('Before.'), halfTwice, saying('After.')];
    const sent: string[] = [];
    for (const text of texts) sent.push(await chat.send(text));
    await chat.until(({ event, data }) => event === 'filetree' && /"once"/.test(data));
    const own = (await service.sandboxes.list()).find(({ runId }) => runId === chat.runId);
    await service.sandboxes.signal(own?.containerId ?? '', 'SIGKILL');
    expect(await chat.turn(sent[2] ?? '')).toMatchObject({ exitCode: 0, texts: ['After.'] });
    const [before, half, after] = sent.map((messageId, n) => ({ messageId, text: texts[n] }));
    const announced = [before, half, { ...half, attempt: 2 }, after];
    expect(chat.named('user_message').map(payload)).toEqual(announced);
    const answers = [['Before.'], ['Half.', 'Done.'], ['After.']];
    const shown = [before, half, after].map((message, n) => ({ ...message, answers: answers[n] }));
    expect(shownBy(chat.events)).toEqual(shown);
    await endSession(service, chat);
    expect(shownBy(await collect(service.stream(chat.runId)))).toEqual(shown);
  });
});

const stuckOnce = 'test -e once || { touch once; sleep 600; }';
const halfTwice = scriptForBoth(
  [{ say: 'Half.' }, { shell: stuckOnce }, { say: 'Done.' }],
  [{ text: 'Half.' }, { tool: 'Bash', input: { command: stuckOnce } }, { text: 'Done.' }],
);

interface ShownMessage {
  messageId: string;
  text: string;
  answers: string[];
}

/** The text that a client shows if it follows the documented rule for an interrupted turn. */
function shownBy(events: SentEvent[]): ShownMessage[] {
  return events.reduce<ShownMessage[]>((shown, { event, data }) => {
    if (event === 'user_message') {
      const { messageId, text } = JSON.parse(data) as ShownMessage;
      const first = shown.findIndex((each) => each.messageId === messageId);
      const earlier = first === -1 ? shown : shown.slice(0, first);
      return [...earlier, { messageId, text, answers: [] }];
    }
    if (event === 'chat_output')
      shown.at(-1)?.answers.push((JSON.parse(data) as { text: string }).text);
    return shown;
  }, []);
}
