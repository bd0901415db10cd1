// The API below a path of a shared host, behind a proxy that strips the path. Every address that
// the API returns leads back through the proxy.

import { request as ask, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInLink } from '../../../core/sign-in.ts';
import { type ApiFixture, openApiFixture, type Tenant } from '../../support/api-fixture.ts';
import { openStream } from '../../support/sse-client.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { caller } from './call.ts';

let fixture: ApiFixture;
let tenant: Tenant;
let proxy: Server;
let origin: string;
let publicUrl: string;

beforeAll(async () => {
  fixture = await openApiFixture();
  const to = { port: 0 };
  proxy = createServer((request, response) => {
    const [, path] = /^\/flowrun(\/.*)$/.exec(request.url ?? '') ?? [];
    if (path === undefined) return void response.writeHead(404).end();
    const { method, headers } = request;
    const onward = ask({ host: '127.0.0.1', port: to.port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => onward.destroy());
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`; // listening on TCP
  publicUrl = `${origin}/flowrun`;
  const api = await fixture.start({ publicUrl });
  to.port = Number(new URL(api.url).port);
  tenant = await fixture.tenant();
});
afterAll(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await fixture?.close();
});

const call = (path: string, body?: unknown) =>
  caller({ url: publicUrl }, tenant.key)(path, body === undefined ? {} : { body });
/** Requests the address exactly as it was returned. */
const follow = (address: string) =>
  caller({ url: '' }, tenant.key)(new URL(address, origin).toString());

test('`Location` and `Link` lead through the proxy', async () => {
  const runs = `/api/v1/flows/${tenant.flowId}/runs`;
  for (const path of [runs, `/api/v1/flows/${tenant.flowId}/sessions`]) {
    const { status, headers, json } = await call(path, path === runs ? { prompt: 'Go' } : {});
    expect(status).toBe(201);
    const found = await follow(headers.get('location') ?? '');
    expect([found.status, found.json?.data.runId]).toEqual([200, json.data.runId]);
  }
  const first = await call('/api/v1/runs?limit=1');
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await follow(next);
  expect(second.json?.data).toHaveLength(1);
  expect(second.json?.data[0].runId).not.toBe(first.json.data[0].runId);
});

test('`streamUrl` leads through the proxy', async () => {
  const path = `/api/v1/flows/${tenant.flowId}/runs`;
  const { streamUrl } = (await call(path, { prompt: 'Go' })).json.data;
  const stream = await openStream(streamUrl, { key: tenant.key });
  await stream.until((events) => events.length > 0);
  expect(stream.names()).toContain('status');
  stream.leave();
});

test('the API description has the public URL', async () => {
  const { servers } = (await call('/api/v1/openapi.json')).json;
  expect(servers).toEqual([{ url: publicUrl }]);
});

test('an operator signs in by the link, and created resources are at the returned addresses', async () => {
  const browser = await chromium.launch({
    executablePath: stackEnv.browser,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(signInLink(publicUrl, (await fixture.stores.operators.invite('ana')).code));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(page.url()).toBe(`${publicUrl}/p/${tenant.projectId}`);
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await context.cookies()).toMatchObject([{ path: '/flowrun/' }]);
    // A cookie of another installation at `/` of the same host, or of this one under its former
    // path.
    await context.addCookies([{ name: 'flowrun_operator', value: 'another', url: origin }]);
    const { status, location } = await page.evaluate<{ status: number; location: string }>(`
      fetch('api/projects', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ projectId: 'below-a-path' }),
      }).then((answer) => ({ status: answer.status, location: answer.headers.get('location') }))
    `);
    expect(status).toBe(201);
    const made = await page.evaluate(`fetch('${location}').then((answer) => answer.json())`);
    expect(made).toMatchObject({ data: { projectId: 'below-a-path' } });
  } finally {
    await browser.close();
  }
});
