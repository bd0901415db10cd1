// A chat on the web page.

import { expect, test } from 'vitest';
import { caller } from '../api/call.ts';
import { openLog } from '../api/log-writer.ts';
import { chat, says, textDelta } from './frames.ts';
import { expectPresentable, openScreen, type PageFixture, setVisibility } from './use-page.ts';

export function chatTests(opened: PageFixture): void {
  test('a chat is opened, a message sent, queued messages withdrawn, and the answer shown as it is written', {
    timeout: 120_000,
  }, async () => {
    const page = await openScreen(opened, '/chat');
    await page.getByRole('heading', { name: 'No chats with this flow' }).waitFor();
    await page.getByRole('button', { name: 'New chat' }).click();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('What is in this folder?');
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    await field.fill('And what is missing?');
    await field.press('Enter');
    const queue = page.getByRole('list', { name: 'Queued messages' });
    await queue.getByText('And what is missing?').waitFor();
    await queue
      .getByRole('listitem')
      .filter({ hasText: 'And what' })
      .getByRole('button', { name: 'Withdraw' })
      .click();
    await expect.poll(() => queue.getByText('And what is missing?').count()).toBe(0);
    const runId = page.url().split('/').at(-1) ?? '';
    await sendFromElsewhere(opened, runId, 'From another client');
    await queue.getByText('From another client').waitFor();
    const positions = await queue.getByRole('listitem').allInnerTexts();
    expect(positions.map((text) => text.split(/\s/)[0])).toEqual(['1', '2']);

    const log = await openLog(opened.fixture, runId);
    await log.write([chat('user_message', { messageId: 'm', text: 'What is in this folder?' })]);
    await log.write([], { deltas: [textDelta('There is '), textDelta('a guide')] });
    await page.locator('.typing').getByText('There is a guide').waitFor();
    await expectPresentable(page, 'chat');
    // A hidden tab misses the rest of the sentence.
    await setVisibility(page, 'hidden');
    await page.locator('.typing').waitFor({ state: 'detached' });
    await setVisibility(page, 'visible');
    await log.write([says('There is a guide and a picture.')]);
    await page.getByText('There is a guide and a picture.').waitFor();
    expect(await page.locator('.typing').count()).toBe(0);

    await page.getByRole('navigation', { name: 'Path' }).getByRole('link').click();
    await page.getByRole('listitem').filter({ hasText: 'turns' }).waitFor();
  });
}

async function sendFromElsewhere(
  { fixture, url, tenant: { key, flowId } }: PageFixture,
  runId: string,
  message: string,
): Promise<void> {
  const sessionId = (await fixture.stores.runs.find(runId))?.sessionId;
  const body = { sessionId, message, stream: true };
  const { status } = await caller({ url }, key)(`/api/v1/flows/${flowId}/chat`, { body });
  expect(status).toBe(202);
}
