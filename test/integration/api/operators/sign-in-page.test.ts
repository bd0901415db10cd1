// The screen behind a sign-in link, in a real browser.

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signInLink } from '../../../../core/sign-in.ts';
import { freePort } from '../../../../dev/stack/ports.ts';
import { type ApiFixture, openApiFixture } from '../../../support/api-fixture.ts';
import { stackEnv } from '../../../support/stack-env.ts';

let fixture: ApiFixture;
let url: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  fixture = await openApiFixture();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await fixture.start({ publicUrl: url }, port);
  browser = await chromium.launch({
    executablePath: stackEnv.browser,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await fixture.close();
});

const text = () => page.getByRole('status').textContent();
const signIn = () => page.getByRole('button', { name: 'Sign in' });
const signedInAs = (name: string) => page.locator('.who').getByText(name).waitFor();
const linkFor = async (name: string) =>
  signInLink(url, (await fixture.stores.operators.invite(name)).code);

test('signs in on a click, with a cookie hidden from scripts, and forgets the code', async () => {
  const link = await linkFor('ana');
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(link);
  await signIn().waitFor();
  expect(page.url()).toBe(`${url}/sign-in`);
  await signIn().click();
  await signedInAs('ana');
  expect(await page.evaluate('document.cookie')).toBe('');
  expect(await context.cookies()).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
  const me = await page.evaluate(`fetch('/api/me').then((answer) => answer.json())`);
  expect(me).toMatchObject({ data: { name: 'ana' } });
  expect(complaints).toEqual([]);

  await page.goto(link);
  await page.reload();
  await page.goto(link);
  await signIn().click();
  await expect.poll(text).toBe('This link was already used or has expired.');
});

test('opening a link does not use it up', async () => {
  const link = await linkFor('ivo');
  await page.goto(link);
  await page.close();
  page = await context.newPage();
  await page.goto(link);
  await signIn().click();
  await signedInAs('ivo');
});

test('says how to sign in without a link, and links the parts of the service', async () => {
  await page.goto(`${url}/`);
  await expect.poll(text).toBe('Open a sign-in link to use this page.');
  expect(await signIn().count()).toBe(0);
  await page.getByText('flowrun operator add').waitFor();
  const link = page.getByRole('link', { name: 'OpenAPI description' });
  expect(await link.getAttribute('href')).toBe('/api/v1/openapi.json');
});

test('warns if no model key is set', async () => {
  const { url: keyless } = await fixture.start({ offlineModel: true });
  await page.goto(`${keyless}/sign-in`);
  expect(await page.textContent('aside')).toContain('Set ANTHROPIC_API_KEY');
  await page.goto(`${url}/sign-in`);
  await page.getByRole('status').waitFor();
  expect(await page.locator('aside').count()).toBe(0);
});

test('explains a rejection at another address and a missing answer; the link stays valid', async () => {
  const link = await linkFor('eva');
  await page.goto(link.replace('127.0.0.1', 'localhost'));
  await signIn().click();
  await expect.poll(text).toContain('Origin');
  await context.setOffline(true);
  await signIn().click();
  await expect.poll(text).toBe('The service is unreachable. Try again.');
  await context.setOffline(false);
  await page.goto(link);
  await signIn().click();
  await signedInAs('eva');
});
