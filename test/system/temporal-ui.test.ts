// Temporal's web interface in a real browser. The server has no search attributes of the service
// before its worker starts.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { type OwnTemporal, startOwnTemporal } from '../support/own-temporal.ts';
import { script } from '../support/prompts.ts';
import { untilWorking } from '../support/run-states.ts';
import { hostIdIn, type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

const pictures = join(stackEnv.dataDir, 'pictures');
const patiently = { timeout: 120_000 };
const canary = 'canary-of-the-prompt';

let server: OwnTemporal;
let service: Service;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  server = await startOwnTemporal();
  const env = { SESSION_TURNS_PER_HISTORY: '1' };
  service = await startService({ on: { temporalAddress: server.address }, env });
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  browser = await chromium.launch({ executablePath: stackEnv.browser, args });
  page = await browser.newPage({ viewport: { width: 1400, height: 1300 } });
  mkdirSync(pictures, { recursive: true });
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await server?.stop();
});

async function workflowsFound(query: string): Promise<string[]> {
  const found: string[] = [];
  const { workflow } = new Client({ connection: server.connection });
  for await (const { workflowId } of workflow.list({ query })) found.push(workflowId);
  return found;
}

/** The text of a tab of the page, including its frames. */
async function textOf(tab: Page): Promise<string> {
  const texts = await Promise.all(tab.frames().map((frame) => frame.innerText('body')));
  return texts.join('\n');
}

async function openPage(workflowId: string): Promise<void> {
  const path = `namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
  await page.goto(`${server.uiUrl}/${path}`);
  await page.waitForURL('**/timeline');
}

/** The page queries only once, possibly too early. Reloads it until it shows the state. */
async function openTab(name: string, shows: string[]): Promise<string> {
  const missing = async (): Promise<string[]> => {
    const text = await textOf(page);
    return shows.filter((each) => !text.includes(each));
  };
  const look = async (): Promise<string[]> => {
    await page.reload();
    await page.getByRole('tab', { name }).click();
    await expect
      .poll(missing, { timeout: 10_000 })
      .toEqual([])
      .catch(() => undefined);
    return missing();
  };
  await expect.poll(look, patiently).toEqual([]);
  return textOf(page);
}

async function takePicture(name: string): Promise<void> {
  const path = join(pictures, `${name}.png`);
  await page.screenshot({ path });
  process.stdout.write(`a picture of it: ${path}\n`);
}

it('shows the prompt size, host, phase and end cause of a run, and where to find more', async () => {
  const prompt = script([{ say: canary }, { hang: true }]);
  const { runId } = await service.trigger({ prompt });
  const agent = async () => (await service.readRun(runId)).agentStatus;
  await expect.poll(agent, patiently).toBe('working');

  await openPage(await workflowIdOf(service, runId));
  const metadata = await openTab('User Metadata', [
    `Prompt ${Buffer.byteLength(prompt)} bytes`,
    'Phase following the agent',
    `Host ${hostIdIn(service.dataDir)}`,
    `Container frs-${service.instance}-${runId}-1`,
    'Cause not ended',
  ]);
  expect(metadata).not.toContain(canary);
  const own = `${service.url}/p/${service.projectId}/runs/${runId}`;
  const links = page.frames().map((frame) => frame.locator(`a[href="${own}"]`).count());
  expect((await Promise.all(links)).reduce((sum, count) => sum + count)).toBe(2);
  await takePicture('run');
  const timeline = await openTab('Timeline', [
    'start the sandbox on host-',
    'follow the agent on host-',
    'time limit of the run',
  ]);
  expect(timeline).not.toContain(canary);
  await takePicture('run-timeline');

  await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
  await service.untilEnded(runId);
  await openTab('User Metadata', ['Phase done', 'Cause stopped_by_api']);
  await takePicture('run-over');
}, 400_000);

it('shows the same of a session, also after continue-as-new, and finds it', async () => {
  const chat = await openConversation(service);
  const workflowId = await workflowIdOf(service, chat.runId);
  const handle = new Client({ connection: server.connection }).workflow.getHandle(workflowId);
  const first = await vi.waitUntil(
    () =>
      handle.describe().then(
        ({ runId }) => runId,
        () => null,
      ),
    patiently,
  );
  await chat.say(script([{ say: canary }]));
  await expect.poll(async () => (await handle.describe()).runId, patiently).not.toBe(first);

  await openPage(workflowId);
  const metadata = await openTab('User Metadata', [
    'Prompt 0 bytes',
    'Phase waiting for a message',
    `Host ${hostIdIn(service.dataDir)}`,
    `Container frs-${service.instance}-${chat.runId}-1`,
    'Full details (for operators of this service)',
  ]);
  expect(metadata).not.toContain(canary);
  await takePicture('session');
  const query = `ExecutionStatus="Running" AND RunStatus="running" AND HostId="${hostIdIn(service.dataDir)}" AND SessionId="${chat.sessionId}"`;
  // The search index lags behind the workflow, and the page shows the index as of its opening.
  await expect.poll(() => workflowsFound(query), patiently).toEqual([workflowId]);
  await page.goto(
    `${server.uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(query)}`,
  );
  await page.getByRole('link', { name: workflowId }).first().waitFor();
  await takePicture('session-found');
  await service.call('DELETE', `/flows/${service.flowId}/sessions/${chat.sessionId}`);
  await chat.closed;
}, 400_000);

/** Uses the menu of the page and its confirmation dialog. */
async function choose(runId: string, action: 'request-cancellation' | 'terminate') {
  await openPage(await workflowIdOf(service, runId));
  const ownButton = page.getByRole('button', { name: 'Request Cancellation' });
  const more = page.getByRole('button', { name: 'More Actions' });
  await more.waitFor();
  if (action === 'request-cancellation' && (await ownButton.isVisible())) await ownButton.click();
  else {
    await more.click();
    const item = page.getByTestId(`${action}-button`).filter({ visible: true });
    await item.first().click();
  }
  const modal = page.locator('[role=alertdialog], [role=dialog], dialog').filter({ visible: true });
  await takePicture(action);
  await modal.getByTestId('confirm-modal-button').click();
}

async function runAtWork(): Promise<string> {
  const { runId } = await service.trigger({ prompt: script([{ say: 'here' }, { hang: true }]) });
  await untilWorking(service, { runId });
  return runId;
}

it.each(['request-cancellation', 'terminate'] as const)(
  'ends a run by %s',
  async (action) => {
    const runId = await runAtWork();
    await choose(runId, action);
    expect(await service.untilEnded(runId)).toMatchObject({ error: 'terminated_by_operator' });
    await expect.poll(() => sandboxesOf(runId), patiently).toEqual([]);
  },
  400_000,
);

const sandboxesOf = async (runId: string): Promise<string[]> =>
  (await service.sandboxes.list())
    .filter((one) => one.runId === runId)
    .map(({ containerId }) => containerId);
