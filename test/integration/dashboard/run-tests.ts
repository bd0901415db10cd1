// What an operator does with runs on the web page.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { askedFrame, closedFrame } from '../../../core/agent/interaction.ts';
import { type LogWriter, triggerRun } from '../api/log-writer.ts';
import { question, says, story } from './frames.ts';
import {
  expectAccessible,
  expectPresentable,
  openScreen,
  type PageFixture,
  setVisibility,
} from './use-page.ts';

const patiently = { timeout: 120_000 };

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

export function runTests(opened: PageFixture): void {
  const newRun = (body: object = {}): Promise<LogWriter> => {
    const { url, tenant, fixture } = opened;
    return triggerRun(fixture, { url, ...tenant }, body);
  };

  const screen = (path: string) => openScreen(opened, path);

  test(
    'the runs table changes its rows in place, and announces new ones without moving any',
    patiently,
    async () => {
      const done = await newRun({
        name: 'Summarize notes',
        labels: { team: 'docs', order: '4711' },
      });
      await done.end();
      const failed = await newRun({
        name: 'Check all links of the documentation site and report the broken ones',
      });
      await failed.end({ cause: 'out_of_memory', exitCode: 137 });
      const live = await newRun({ name: 'Write hello.md', labels: { order: '4711' } });
      const page = await screen('/runs');
      await row(page, 'Write hello.md').getByText('Starting').waitFor();
      await row(page, 'Check all links').getByText('Out of memory').waitFor();
      await expectPresentable(page, 'runs');

      await newRun({ name: 'A later run' });
      await live.end({ cause: 'stopped_by_api' });
      await row(page, 'Write hello.md').getByText('Stopped').waitFor();
      const announcement = page.getByRole('status').getByRole('button', { name: '1 new' });
      await announcement.waitFor();
      expect(await row(page, 'A later run').count()).toBe(0);
      await announcement.click();
      await row(page, 'A later run').waitFor();
    },
  );

  test('the filter of the runs table is its address', patiently, async () => {
    await newRun({ name: 'Filtered one', labels: { colour: 'blue' } });
    await newRun({ name: 'Filtered two', labels: { colour: 'red' } });
    const page = await screen('/runs');
    await page.getByRole('button', { name: 'colour:blue' }).click();
    await row(page, 'Filtered two').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?label=colour%3Ablue');
    await page.reload();
    await row(page, 'Filtered one').waitFor();
    expect(await row(page, 'Filtered two').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the filter colour:blue' }).click();
    await row(page, 'Filtered two').waitFor();
  });

  test('a run is found, opened and left by the keyboard alone', patiently, async () => {
    const { runId } = await newRun({ name: 'Opened by keys' });
    const page = await screen('/runs');
    await row(page, 'Opened by keys').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('opened by');
    await row(page, 'Filtered one').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Opened by keys' }).waitFor();
    expect(page.url()).toContain(runId);
    await page.getByRole('tab', { name: 'Details' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('tab', { name: 'Raw', selected: true }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test(
    'a run is followed live, and its question answered where it is asked',
    patiently,
    async () => {
      const run = await newRun({ name: 'Write hello.md', labels: { order: '4711' } });
      await run.write(story);
      const page = await screen(`/runs/${run.runId}`);
      await page.getByText('There is no test script').waitFor();
      expect(await page.title()).toBe('Write hello.md · Flowrun');
      const conversation = page.getByRole('region', { name: 'Conversation' });
      const edit = conversation.locator('details', { hasText: 'Edit' }).first();
      await edit.getByText('+const greeting = "Hello";').waitFor();
      await conversation.getByText('Task').click();
      await conversation.getByText('The greeting is never used.').waitFor();
      await conversation.getByText('Thinking').click();
      await conversation.getByText('may have a style guide').waitFor();
      const link = conversation.getByRole('link', { name: 'the guide' });
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer');

      const { interactions } = opened.fixture.stores;
      await interactions.record(run.runId, [{ kind: 'asked', interaction: question }]);
      await run.write([askedFrame(question)]);
      await page.getByLabel('Blue').check();
      await expectPresentable(page, 'run');
      const asked = page.waitForRequest((request) => request.url().endsWith('/interactions/q-1'));
      await page.getByRole('button', { name: 'Answer' }).click();
      expect((await asked).postDataJSON()).toEqual({
        answers: { 'Which colour should the heading have?': 'Blue' },
      });
      await run.write([closedFrame(question.interactionId, 'answered')]);
      await page.getByText('Answered.').waitFor();
      await run.write([says('The heading is blue now.')], { deltas: [] });
      await page.getByText('The heading is blue now.').waitFor();
      for (const tab of ['Changes', 'Files', 'Log', 'Raw']) {
        await page.getByRole('tab', { name: tab }).click();
        await page.locator('[role=tabpanel] .skeleton').waitFor({ state: 'detached' });
        await expectAccessible(page);
      }
      await run.end();
      await page.locator('.facts').getByText('Completed').waitFor();
    },
  );

  test('a run is stopped after a confirmation, retried and deleted', patiently, async () => {
    const run = await newRun({ name: 'To be stopped' });
    const page = await screen(`/runs/${run.runId}`);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog', { name: 'Stop To be stopped?' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(opened.fixture.asked.stopped).toEqual([]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await page.locator('.facts').getByText('Stopping').waitFor();
    expect(opened.fixture.asked.stopped).toHaveLength(1);
    await run.end({ cause: 'stopped_by_api' });
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('link', { name: 'Retry of another run' }).waitFor();
    expect(page.url()).not.toContain(run.runId);

    await page.goto(`${opened.url}/p/${opened.tenant.projectId}/runs/${run.runId}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const { stores } = opened.fixture;
    expect((await stores.runs.find(run.runId))?.deletedAt ?? null).not.toBeNull();
  });

  test(
    'a hidden tab holds no stream, and shows what it has missed once it is visible',
    patiently,
    async () => {
      const run = await newRun({ name: 'In many tabs' });
      await run.write([says('Before.')]);
      const tabs: Page[] = [];
      // A browser opens six connections to a service without TLS.
      for (let count = 0; count < 7; count += 1) {
        const page = await screen(`/runs/${run.runId}`);
        await page.getByText('Before.').waitFor();
        tabs.push(page);
        if (count < 6) await setVisibility(page, 'hidden');
      }
      const [first, last] = [tabs[0] as Page, tabs[6] as Page];
      await run.write([says('Meanwhile.')]);
      await last.getByText('Meanwhile.').waitFor();
      expect(await first.getByText('Meanwhile.').count()).toBe(0);
      await setVisibility(first, 'visible');
      await first.getByText('Meanwhile.').waitFor();
      expect(await first.getByText('Before.').count()).toBe(1);
      await run.write([says('Afterwards.')]);
      await first.getByText('Afterwards.').waitFor();
    },
  );
}
