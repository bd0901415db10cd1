// The web page in a real browser, with an API whose Temporal is replaced. Tests write the log of a
// run like a worker.

import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { signInLink } from '../../../core/sign-in.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { type ApiFixture, openApiFixture, type Tenant } from '../../support/api-fixture.ts';
import { stackEnv } from '../../support/stack-env.ts';

/** A browser that loads nothing but the pages of a test. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const pictures = join(stackEnv.dataDir, 'pictures');

export interface PageFixture {
  fixture: ApiFixture;
  tenant: Tenant;
  /** The address of the page, without a slash at its end. */
  url: string;
  browser: Browser;
  /** A window in which an operator is signed in. */
  context: BrowserContext;
}

/** Opened before the tests of a file and closed after them. A browser takes seconds to start. */
export function usePage(): PageFixture {
  // Empty until `beforeAll`, so that it can be a constant; no test runs before that.
  const opened = {} as PageFixture;
  beforeAll(async () => {
    const fixture = await openApiFixture();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    Object.assign(opened, { fixture, url });
    const temporalUiUrl = 'http://127.0.0.1:1/temporal';
    await fixture.start({ publicUrl: url, temporalUiUrl }, port);
    opened.tenant = await fixture.tenant({ flow: { name: 'writer' } });
    await fixture.stores.projects.update(opened.tenant.projectId, {});
    opened.browser = await chromium.launch({ executablePath: stackEnv.browser, args: quiet });
    opened.context = await opened.browser.newContext({ viewport: { width: 1280, height: 800 } });
    opened.context.setDefaultTimeout(60_000);
    await mkdir(pictures, { recursive: true });
    await signIn(opened);
  });
  afterAll(async () => {
    await opened.browser?.close();
    await opened.fixture?.close();
  });
  return opened;
}

async function signIn({ fixture, url, context }: PageFixture): Promise<void> {
  const { code } = await fixture.stores.operators.invite('ana');
  const page = await context.newPage();
  await page.goto(signInLink(url, code));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.close();
}

/**
 * Opens a path below the project, until the test has finished. What the page complains about, such
 * as a violation of its content security policy, fails the test.
 */
export async function openScreen(opened: PageFixture, path: string): Promise<Page> {
  const complaints: string[] = [];
  const page = await opened.context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  onTestFinished(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(`${opened.url}/p/${opened.tenant.projectId}${path}`);
  return page;
}

/** Puts a tab into the background, or back. A browser without a window shows all of its tabs. */
export async function setVisibility(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      get: () => '${state}',
    });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** The violations of accessibility rules, each with the elements that have them. */
async function violationsOf(page: Page): Promise<string[]> {
  // Sent by the debugger, so the content security policy of the page does not apply.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()');
  return violations.map(({ id, nodes }) =>
    [id, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)].join('\n'),
  );
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([]);
}

/**
 * Expects a screen to be accessible in both themes, and to fit a phone. Keeps a picture of each.
 */
export async function expectPresentable(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `page-${name}-${colorScheme}.png`) });
    expect(await violationsOf(page)).toEqual([]);
  }
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: join(pictures, `page-${name}-phone.png`) });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await violationsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  if (before !== null) await page.setViewportSize(before);
}
