import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { openConversation } from '../support/conversation.ts';
import { running } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

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
});
