// The client in a page of another origin, with a run token instead of a key.

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Flowrun } from '../../../client/index.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { openLog } from '../api/log-writer.ts';
import { useTenant } from '../api/use-api.ts';

const { fixture, api, tenant } = useTenant();
let site: Server;
let browser: Browser;

beforeAll(async () => {
  const module = readFileSync(join(repository, 'dist/client/index.js'));
  site = createServer(({ url }, response) => {
    const isModule = url === '/client.js';
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? module : '<!doctype html><title>Page</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({
    executablePath: stackEnv.browser,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});
afterAll(async () => {
  await browser?.close();
  site?.close();
});

test('follows a run over a disconnect to its end, and cannot start one', async () => {
  const flowrun = new Flowrun({ url: api.url, key: tenant.key });
  const run = await flowrun.run('A flow', { prompt: 'Go' });
  const { token } = await run.createToken({ expiresInSeconds: 600 });
  const log = await openLog(fixture, run.runId);
  const frame = (text: string) => ({
    event: 'chat_output',
    data: JSON.stringify({ text }),
    channel: 'chat' as const,
  });
  await log.write([frame('one')]);

  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  await page.evaluate(`(async () => {
    const { Flowrun } = await import('/client.js');
    globalThis.texts = [];
    globalThis.flowrun = new Flowrun(${JSON.stringify({ url: api.url, key: token })});
    const run = await flowrun.getRun('${run.runId}');
    globalThis.ended = (async () => {
      for await (const event of run.events()) {
        if (event.type === 'chat_output') texts.push(event.data.text);
        if (event.type === 'finished') return event.data.reason;
      }
    })();
  })()`);
  await page.waitForFunction(`texts.includes('one')`);
  api.app.server.closeAllConnections();
  await log.write([frame('two')]);
  await page.waitForFunction(`texts.includes('two')`);
  await log.end();
  expect(await page.evaluate('ended')).toBe('completed');
  expect(await page.evaluate('texts')).toEqual(['one', 'two']);
  const starting = `flowrun.run('${tenant.flowId}', { prompt: 'Go' }).catch(({ code }) => code)`;
  expect(await page.evaluate(starting)).toBe('UNAUTHORIZED');
});
