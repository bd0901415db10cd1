// The worker dies at one step of a message's turn. Then either the container is killed before the
// worker is back, so the agent's output so far is all there is; or the container keeps running, and
// the agent continues.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Failpoint } from '../../core/failpoint.ts';
import { firstAttempts } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { running } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { failpointsOf } from './support/failpoints-of.ts';

type Kill = 'killed' | 'removed' | 'left alone';

const counted = running('echo ran >> /workspace/ran', 'Counted.');
const reported = running('echo "ran $(wc -l < /workspace/ran) times"', 'Told.');

const deaths: [Failpoint, Kill][] = [
  ...failpointsOf('turn').flatMap((name): [Failpoint, Kill][] => [
    [name, 'killed'],
    [name, 'left alone'],
  ]),
  ['turn.ending', 'removed'],
];

describe.each(['scripted', 'real'] as const)('a message of the %s agent', (agent) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent, env: { RECONCILE_EVERY_MS: '1000' } });
  });
  afterEach(async () => {
    if (!service.worker.isRunning()) await service.worker.start();
  });
  afterAll(() => service?.stop());

  it.each(deaths)(
    'whose worker dies at %s and whose container is %s runs once and ends once',
    async (name, kill) => {
      const chat = await openConversation(service);
      await chat.say(running('true', 'Before.'));
      await restartWithFailpoint(service.worker, name);
      const message = await chat.send(counted);
      await restartAfterFailpoint(service.worker, () => endContainer(service, chat, kill));
      expect(await chat.turn(message)).toMatchObject({ exitCode: 0, texts: ['Counted.'] });
      expect(await chat.say(reported)).toMatchObject({ exitCode: 0, texts: ['Told.'] });
      const lines = chat.named('user').map(({ data }) => /ran \d+ times/.exec(data)?.[0]);
      expect(lines.filter(Boolean)).toEqual(['ran 1 times']);
      expect(chat.named('turn_end')).toHaveLength(3);
      expect(firstAttempts(chat)).toHaveLength(3);
      expect(chat.named('session_ready')).toHaveLength(kill === 'left alone' ? 1 : 2);
      await service.call('DELETE', `/flows/${service.flowId}/sessions/${chat.sessionId}`);
      await chat.closed;
    },
  );
});

async function endContainer({ sandboxes }: Service, { runId }: Conversation, kill: Kill) {
  const found = (await sandboxes.list()).find((one) => one.runId === runId);
  if (!found) throw new Error('it has no container');
  if (kill === 'left alone') return;
  if (kill === 'removed') return sandboxes.remove(found.containerId);
  await sandboxes.signal(found.containerId, 'SIGKILL');
}
