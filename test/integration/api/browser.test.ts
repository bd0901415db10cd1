// A page of another origin in a real browser, which enforces the CORS rules.

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { streamEvents } from '../../../core/frames/frame.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { caller } from './call.ts';
import { openLog } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let site: Server;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  const html = readFileSync(join(repository, 'test/fixtures/page/index.html'));
  site = createServer((_request, response) => response.end(html));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const executablePath = stackEnv.browser;
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});
beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await browser.close();
  site.close();
});

/** Calls one of the functions of the page. */
const inPage = (name: string, ...args: unknown[]): Promise<ReturnType<typeof JSON.parse>> =>
  page.evaluate(`${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`);

async function newRun(): Promise<string> {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  return (await caller(api, tenant.key)(path, { body: { prompt: 'Go' } })).json.data.runId;
}

const frame = (text: string) => ({
  event: 'assistant',
  data: JSON.stringify({ text }),
  channel: 'chat' as const,
});

interface Seen {
  name: string;
  id: string;
  data: Record<string, unknown>;
}

test('an EventSource with its key in the URL receives a run completely, also after a disconnect', async () => {
  const runId = await newRun();
  const log = await openLog(fixture, runId);
  await log.write([frame('one'), frame('two')]);
  const address = `${api.url}/api/v1/runs/${runId}/stream?api_key=${encodeURIComponent(tenant.key)}`;
  await inPage('watch', address, streamEvents);
  await page.waitForFunction(`seen.some(({ data }) => data.text === 'two')`);

  await log.write([frame('three')]);
  await page.waitForFunction(`seen.some(({ data }) => data.text === 'three')`);
  api.app.server.closeAllConnections();
  await log.write([frame('four')]);
  await page.waitForFunction(`losses > 0 && seen.some(({ data }) => data.text === 'four')`);
  await log.write([frame('five')]);
  await log.end();
  await page.waitForFunction(`seen.some(({ name }) => name === 'finished')`);

  const seen = await page.evaluate<Seen[]>('seen');
  expect(seen[0]).toMatchObject({ name: 'status', data: { status: 'running' } });
  const texts = seen
    .filter(({ name }) => name === 'assistant')
    .map(({ id, data }) => [id, data['text']]);
  const ids = log.stored.map(({ seq }) => String(seq));
  expect(texts).toEqual(['one', 'two', 'three', 'four', 'five'].map((text, i) => [ids[i], text]));
  expect(seen.at(-1)).toMatchObject({ name: 'finished', data: { reason: 'completed' } });
  expect(api.log()).not.toContain(tenant.key);
});

test('a page calls with a key and headers, and reads answers, errors and their headers', async () => {
  const runs = `${api.url}/api/v1/flows/${tenant.flowId}/runs`;
  const headers = {
    authorization: `Bearer ${tenant.key}`,
    'content-type': 'application/json',
    'x-ctx-place': 'a page',
    'idempotency-key': 'from-a-page',
  };
  const init = { method: 'POST', headers, body: '{"prompt":"Go"}' };
  const started = await inPage('call', runs, init);
  expect(started).toMatchObject({ status: 201, headers: { 'x-ratelimit-limit': '10000' } });
  const { runId } = started.body.data;
  expect(started.headers.location).toBe(`/api/v1/runs/${runId}`);
  expect(started.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const again = await inPage('call', runs, init);
  expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });

  const labels = { method: 'PATCH', headers, body: '{"labels":{"from":"a page"}}' };
  const changed = await inPage('call', `${api.url}/api/v1/runs/${runId}/labels`, labels);
  expect(changed.body.data.labels).toEqual({ from: 'a page' });
  const gone = await inPage('call', `${api.url}/api/v1/runs/${runId}`, {
    method: 'DELETE',
    headers,
  });
  expect(gone.status).toBe(200);
  const refused = await inPage('call', `${api.url}/api/v1/flows`, {});
  expect([refused.status, refused.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
});

test('rejects pages of unlisted origins, and never allows cookies', async () => {
  const strict = await fixture.start({ corsOrigins: ['https://app.example'] });
  const headers = { authorization: `Bearer ${tenant.key}` };
  await expect(inPage('call', `${strict.url}/api/v1/flows`, { headers })).rejects.toThrow(
    'Failed to fetch',
  );
  const withCookies = { headers, credentials: 'include' };
  await expect(inPage('call', `${api.url}/api/v1/flows`, withCookies)).rejects.toThrow(
    'Failed to fetch',
  );

  const address = `${strict.url}/api/v1/runs/${await newRun()}/stream?api_key=${tenant.key}`;
  await inPage('watch', address, streamEvents);
  await page.waitForFunction('losses > 0');
  expect(await page.evaluate('seen')).toEqual([]);
});
