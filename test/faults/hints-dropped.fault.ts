// Runs and sessions work the same if every hint is lost. These tests of the whole service run once
// more, with a service that publishes no hint.

import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { linesIn } from '../support/log-lines.ts';
import { script } from '../support/prompts.ts';
import { startService } from '../support/service.ts';

process.env['TEST_DROP_HINTS'] = '1';
afterAll(() => {
  delete process.env['TEST_DROP_HINTS'];
});

const files = ['chat', 'concurrent-sessions', 'interrupts', 'session-idle', 'session-queue'];

describe.each([...files, 'run-stories', 'session-restarts', 'sessions'])(
  'with no hint, %s',
  async (name) => {
    await import(`../system/${name}.test.ts`);
  },
);

it('begins no turn and starts no run by a hint', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const chat = await openConversation(service);
  for (const text of ['One.', 'Two.', 'Three.']) await chat.say(script([{ say: text }]));
  const { runId } = await service.trigger({ prompt: script([{ say: 'A run.' }]) });
  await service.untilEnded(runId);
  const begun = linesIn(join(service.dataDir, 'worker.log')).filter(
    ({ msg }) => msg === 'turn_started' || msg === 'sandbox_started',
  );
  expect(begun.map(({ startedBy }) => startedBy)).toEqual(Array(5).fill('activity'));
});
