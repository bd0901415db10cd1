import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let runId: string;

beforeAll(async () => {
  const trigger = caller(api, tenant.key)(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: 'Go' },
  });
  runId = (await trigger).json.data.runId;
});

test('accepts a key in the query for the stream only, and never two different keys', async () => {
  const stream = `/api/v1/runs/${runId}/stream`;
  const open = (query: string, key: string | null) => {
    const abort = new AbortController();
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    return fetch(`${api.url}${stream}?${query}`, { headers, signal: abort.signal }).then(
      (answer) => {
        abort.abort();
        return answer.status;
      },
    );
  };
  const other = await fixture.tenant();
  expect(await open(`api_key=${tenant.key}`, null)).toBe(200);
  expect(await open(`api_key=${tenant.key}`, tenant.key)).toBe(200);
  expect(await open(`api_key=${tenant.key}`, other.key)).toBe(401);
  expect(await open(`api_key=${other.key}`, tenant.key)).toBe(401);
  expect(await open(`api_key=${tenant.key}&api_key=${tenant.key}`, null)).toBe(401);
  expect(await open('api_key=', null)).toBe(401);
  const run = `/api/v1/runs/${runId}?api_key=${tenant.key}`;
  expect((await caller(api, null)(run)).status).toBe(401);
  expect((await caller(api, tenant.key)(run)).status).toBe(400);
});

test('rejects a revoked key from the next call on, in every process', async () => {
  const other = await fixture.start();
  for (let i = 0; i < 20; i += 1) {
    const { key, record } = await fixture.stores.keys.create({
      ...named,
      projectId: tenant.projectId,
    });
    const calls = [caller(api, key), caller(other, key)];
    for (const call of calls) expect((await call('/api/v1/flows')).status).toBe(200);
    await fixture.stores.keys.revoke(record.keyId);
    for (const call of calls) expect((await call('/api/v1/flows')).status).toBe(401);
  }
});

test('limits database lookups of unknown keys', async () => {
  let lookups = 0;
  const counting = await fixture.start({
    nowMs: () => 1_000_000,
    keys: {
      ...fixture.stores.keys,
      findByKey: (key) => {
        lookups += 1;
        return fixture.stores.keys.findByKey(key);
      },
    },
  });
  const unknown = () => `frs_${randomUUID().replaceAll('-', '')}AAAAAAAAAAA`;
  const one = unknown();
  const atOnce = 50;
  for (let i = 0; i < 20; i += 1) {
    expect((await caller(counting, one)('/api/v1/flows')).status).toBe(401);
  }
  expect(lookups).toBe(1);
  expect((await caller(counting, tenant.key)('/api/v1/flows')).status).toBe(200);

  const statuses: number[] = [];
  for (let round = 0; round < 13; round += 1) {
    const batch = Array.from({ length: atOnce }, () =>
      counting.app.inject({
        url: '/api/v1/flows',
        headers: { authorization: `Bearer ${unknown()}` },
      }),
    );
    statuses.push(...(await Promise.all(batch)).map(({ statusCode }) => statusCode));
  }
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(lookups).toBeLessThanOrEqual(limits.unknownKey.perMinute + atOnce);
  expect((await caller(counting, tenant.key)('/api/v1/flows')).status).toBe(200);
});

test('writes the last use of keys in batches', async () => {
  const writes: string[][] = [];
  const own = await fixture.start({
    keys: {
      ...fixture.stores.keys,
      touch: (keyIds) => {
        writes.push(keyIds);
        return fixture.stores.keys.touch(keyIds);
      },
    },
  });
  const fresh = await fixture.tenant();
  const began = performance.now();
  for (let i = 0; i < 10; i += 1) await caller(own, fresh.key)('/api/v1/flows');
  await own.close();
  const rounds = Math.floor((performance.now() - began) / limits.key.touchEveryMs) + 1;
  expect(writes.length).toBeGreaterThanOrEqual(1);
  expect(writes.length).toBeLessThanOrEqual(rounds);
  expect(writes.every((keyIds) => keyIds.length === 1)).toBe(true);
  const [record] = await fixture.stores.keys.list(fresh.projectId);
  expect(record?.lastUsedAt).toBeInstanceOf(Date);
});

const named = { name: 'second', createdBy: 'ana' };
