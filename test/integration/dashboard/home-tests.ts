// What needs an operator, on the web page.

import { expect, test } from 'vitest';
import { triggerRun } from '../api/log-writer.ts';
import { expectPresentable, openScreen, type PageFixture } from './use-page.ts';

export function homeTests(opened: PageFixture): void {
  test('the start of a project has the runs that wait for an answer apart from those that work', {
    timeout: 120_000,
  }, async () => {
    const { fixture, url, tenant } = opened;
    const newRun = (name: string) => triggerRun(fixture, { url, ...tenant }, { name });
    const page = await openScreen(opened, '');
    const needed = page.getByRole('region', { name: 'Needs you' });
    const running = page.getByRole('region', { name: 'Running now' });
    await needed.getByText('No agent waits for an answer.').waitFor();
    await running.getByText('Nothing else runs.').waitFor();

    const asking = await newRun('Choose a colour for the heading of the page');
    await asking.write([], { agentStatus: 'waiting' });
    const working = await newRun('Sort the letters');
    await working.write([], { agentStatus: 'working' });
    await needed.getByText('Choose a colour').waitFor();
    await running.getByText('Sort the letters').waitFor();
    expect(await running.getByText('Choose a colour').count()).toBe(0);
    await expectPresentable(page, 'home');

    await asking.end();
    await working.end();
    await running.getByText('Nothing else runs.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });
}
