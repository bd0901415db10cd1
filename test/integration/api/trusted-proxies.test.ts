// Every caller has a separate loopback address. They are distinguished by how long unknown keys are
// looked up for each.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { createTrustedProxies } from '../../../api/http/trusted-proxies.ts';
import { limits } from '../../../core/limits.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { useApi } from './use-api.ts';

const { fixture } = useApi();
const proxy = '127.0.0.2';
const other = '127.0.0.3';
const nowMs = 1_000_000_000_000;

/** Its clock is fixed, so no bucket refills. */
function startBehind(...proxies: string[]): Promise<ApiProcess> {
  const isTrustedProxy = createTrustedProxies({ proxies, nowMs: () => nowMs });
  return fixture.start({ isTrustedProxy, nowMs: () => nowMs });
}

interface Calling {
  from: string;
  /** The header `X-Forwarded-For`. */
  forwardedFor?: string;
}

/** The status that an unknown key gets. */
async function callWithUnknownKey(
  api: ApiProcess,
  { from, forwardedFor }: Calling,
): Promise<number> {
  const sent = request(`${api.url}/api/v1/flows`, {
    localAddress: from,
    headers: {
      authorization: `Bearer frs_${randomUUID().replaceAll('-', '')}AAAAAAAAAAA`,
      ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    },
  });
  sent.end();
  const [answer] = await once(sent, 'response');
  answer.resume();
  return answer.statusCode;
}

/** The statuses of more unknown keys than are permitted, with a header per request. */
async function callOften(api: ApiProcess, from: string, forwardedFor: (n: number) => string) {
  const statuses: number[] = [];
  for (let sent = 0; sent < limits.unknownKey.perMinute + 50; sent += 50) {
    const batch = Array.from({ length: 50 }, (_, n) =>
      callWithUnknownKey(api, { from, forwardedFor: forwardedFor(sent + n) }),
    );
    statuses.push(...(await Promise.all(batch)));
  }
  return statuses;
}

test('counts clients behind a trusted proxy separately', async () => {
  const api = await startBehind('10.9.0.0/16', proxy);
  // The caller's claim precedes the address that the proxy saw.
  const statuses = await callOften(api, proxy, (n) => `198.51.100.${n % 250}, 203.0.113.7`);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(await callWithUnknownKey(api, { from: proxy, forwardedFor: '203.0.113.7' })).toBe(429);
  expect(await callWithUnknownKey(api, { from: proxy, forwardedFor: '203.0.113.8' })).toBe(401);
  // Another listed proxy on the path is skipped.
  expect(
    await callWithUnknownKey(api, { from: proxy, forwardedFor: '203.0.113.7, 10.9.8.7' }),
  ).toBe(429);
  expect(
    await callWithUnknownKey(api, { from: proxy, forwardedFor: '203.0.113.7, 10.8.8.7' }),
  ).toBe(401);
  // An address on a network of the proxy whose zone has a dot in its name.
  expect(
    await callWithUnknownKey(api, { from: proxy, forwardedFor: '203.0.113.7, fe80::1%eth0.100' }),
  ).toBe(401);
});

test('ignores X-Forwarded-For from other addresses', async () => {
  const api = await startBehind(proxy);
  const statuses = await callOften(api, other, (n) => `203.0.${n >> 8}.${n & 255}`);
  expect(statuses).toContain(429);
  expect(await callWithUnknownKey(api, { from: other })).toBe(429);
  expect(await callWithUnknownKey(api, { from: '127.0.0.4', forwardedFor: other })).toBe(401);
  expect(await callWithUnknownKey(api, { from: proxy, forwardedFor: other })).toBe(429);
});

test('trusts no address without a list', async () => {
  const api = await startBehind();
  const statuses = await callOften(api, proxy, (n) => `203.0.${n >> 8}.${n & 255}`);
  expect(statuses).toContain(429);
});

test('trusts the addresses of a resolved name, and none of an unresolvable one', async () => {
  const isTrusted = createTrustedProxies({
    proxies: ['nobody.invalid', 'localhost'],
    nowMs: () => nowMs,
  });
  expect(isTrusted('127.0.0.1')).toBe(false);
  await expect.poll(() => isTrusted('127.0.0.1')).toBe(true);
  expect(isTrusted('::ffff:127.0.0.1')).toBe(true);
  for (const nobody of ['127.0.0.2', 'localhost', '', 'fe80::1%lo', 'fe80::1%eth0.1']) {
    expect(isTrusted(nobody)).toBe(false);
  }
});

test('follows a proxy to its new address, and stops trusting the previous one', async () => {
  let address = '172.18.0.9';
  let now = nowMs;
  const isTrusted = createTrustedProxies({
    proxies: ['caddy'],
    nowMs: () => now,
    addressesOf: async () => [address],
  });
  await expect.poll(() => isTrusted('172.18.0.9')).toBe(true);
  address = '172.18.0.11';
  now += limits.http.proxyNameTtlMs + 1;
  await expect.poll(() => isTrusted('172.18.0.11')).toBe(true);
  expect(isTrusted('172.18.0.9')).toBe(false);
});

test('matches IPv4 and IPv6 networks on every kind of socket', () => {
  const isTrusted = createTrustedProxies({
    proxies: ['10.1.0.0/16', 'fd00::/8', '192.0.2.1'],
    nowMs: () => nowMs,
  });
  for (const one of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '192.0.2.1']) {
    expect(isTrusted(one), one).toBe(true);
  }
  for (const one of ['10.2.0.1', '::ffff:10.2.0.1', 'fe80::1', '192.0.2.2', 'unknown']) {
    expect(isTrusted(one), one).toBe(false);
  }
});
