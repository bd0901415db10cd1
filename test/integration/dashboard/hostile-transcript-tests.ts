// What an agent writes stays text on the page.

import { expect, test } from 'vitest';
import { triggerRun } from '../api/log-writer.ts';
import { calls, chat, output, returns, says, thinks } from './frames.ts';
import { hostileTexts } from './hostile-texts.ts';
import { openScreen, type PageFixture } from './use-page.ts';

const framesOf = (text: string, at: number) => [
  says(text),
  thinks(text),
  calls(`t${at}`, text.slice(0, 500), { command: text, [text.slice(0, 50)]: text }),
  returns(`t${at}`, text, { isError: true }),
  calls(`e${at}`, 'Edit', { file_path: text, old_string: text, new_string: text }),
  output(text),
];

export function hostileTranscriptTests(opened: PageFixture): void {
  test('a hostile conversation runs nothing, loads nothing, and is shown as text', {
    timeout: 120_000,
  }, async () => {
    const { fixture, url, tenant } = opened;
    expect(hostileTexts.length).toBeGreaterThanOrEqual(60);
    const [script = ''] = hostileTexts;
    const run = await triggerRun(
      fixture,
      { url, ...tenant },
      { name: script, prompt: script, labels: { note: script } },
    );
    await run.write([chat('user_message', { messageId: 'm', text: script })]);
    for (const [at, text] of hostileTexts.entries()) await run.write(framesOf(text, at));
    await run.write([
      chat('interaction', {
        interactionId: 'q',
        toolName: script,
        questions: [{ question: script, options: [{ label: script, description: script }] }],
      }),
    ]);

    const requests: string[] = [];
    const page = await openScreen(opened, '/runs');
    page.on('request', (request) => requests.push(request.url()));
    page.on('dialog', (dialog) => requests.push(`dialog ${dialog.message()}`));
    await page.getByRole('link', { name: script }).click();
    await page.getByRole('button', { name: 'Answer' }).waitFor();
    const earlier = page.getByRole('button', { name: 'Load earlier entries' });
    const entries = page.locator('.entry');
    // Only the latest entries are there at first.
    while (await earlier.isVisible()) {
      const count = await entries.count();
      await earlier.click();
      await expect.poll(() => entries.count()).toBeGreaterThan(count);
    }
    await page.evaluate(`
    for (const each of document.querySelectorAll('.conversation details')) each.open = true;
  `);
    const shown = page.locator('.conversation');
    await expect.poll(() => shown.getByText(script).count()).toBeGreaterThan(3);
    for (const tab of ['Log', 'Raw', 'Details']) await page.getByRole('tab', { name: tab }).click();

    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.evaluate('({}).hacked')).toBeUndefined();
    const inert = `#page :is(script, img, iframe, object, embed, link, meta, base, video, audio, style,
    math, template, use, animate, [style*=url], form[action])`;
    expect(await page.locator(inert).count()).toBe(0);
    const links = await page
      .locator('.conversation a')
      .evaluateAll((all) => all.map((link) => (link as unknown as { protocol: string }).protocol));
    expect(new Set(links)).toEqual(new Set(['https:']));
    expect(requests.filter((request) => !request.startsWith(`${url}/`))).toEqual([]);
  });
}
