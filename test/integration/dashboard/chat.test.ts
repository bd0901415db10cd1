// A chat on the web page.

import { expect, test } from 'vitest';
import { openLog } from '../api/log-writer.ts';
import { chat, says } from './frames.ts';
import { expectPresentable, openScreen, takeComplaints, usePage } from './use-page.ts';

const opened = usePage();

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
  const log = await openLog(opened.fixture, runId);
  await log.write([chat('user_message', { messageId: 'm', text: 'What is in this folder?' })]);
  const delta = (text: string) =>
    JSON.stringify({
      type: 'stream_event',
      event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      parent_tool_use_id: null,
    });
  await log.write([], { deltas: [delta('There is '), delta('a guide')] });
  await page.locator('.typing').getByText('There is a guide').waitFor();
  await expectPresentable(page, 'chat');
  await log.write([says('There is a guide and a picture.')]);
  await page.getByText('There is a guide and a picture.').waitFor();
  expect(await page.locator('.typing').count()).toBe(0);

  await page.getByRole('navigation', { name: 'Path' }).getByRole('link').click();
  await page.getByRole('listitem').filter({ hasText: 'turns' }).waitFor();
  expect(takeComplaints()).toEqual([]);
});
