import { expect, test } from 'vitest';
import { noopMetrics } from '../../../api/metrics.ts';
import { limits } from '../../../core/limits.ts';
import { createStreamSlots } from '../../../systems/redis/stream-slots.ts';
import { openStream } from '../../support/sse-client.ts';
import { caller } from './call.ts';
import { assistant, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const newRun = () => triggerRun(fixture, { url: api.url, ...tenant });
const pathOf = (runId: string) => `/api/v1/runs/${runId}/stream`;

// These two mostly wait, so they run at the same time.
test.concurrent('closes streams of a revoked key within 15 seconds, and no others', async () => {
  const { runId } = await newRun();
  const named = { projectId: tenant.projectId, name: 'second', createdBy: 'ana' };
  const { key, record } = await fixture.stores.keys.create(named);
  const doomed = await openStream(`${api.url}${pathOf(runId)}?api_key=${key}`, { key: null });
  const kept = await openStream(`${api.url}${pathOf(runId)}`, { key: tenant.key });
  await doomed.until((events) => events.length === 1);
  const began = performance.now();
  await fixture.stores.keys.revoke(record.keyId);
  await doomed.closed;
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(doomed.names()).toEqual(['status']);
  expect(kept.isClosed()).toBe(false);
  kept.leave();
});

test.concurrent('pings every 15 seconds, with a comment, and with a new retry time if many other streams were opened', async (context) => {
  const own = await fixture.tenant({ key: { rateLimitRpm: 100 } });
  const { runId } = await triggerRun(fixture, { url: api.url, ...own });
  const other = await fixture.start();
  const open = ({ url }: { url: string }) => openStream(`${url}${pathOf(runId)}`, own);
  const client = await open(api);
  const began = performance.now();
  await context.expect.poll(() => client.retries).toHaveLength(1);
  expect(client.retries[0]).toBeGreaterThanOrEqual(60_000 / 100);
  expect(client.retries[0]).toBeLessThanOrEqual(60_000 / 100 + 1.5 * (60_000 / 100));
  const elsewhere = await Promise.all(Array.from({ length: 20 }, () => open(other)));
  const further = await open(api);
  await context.expect.poll(() => client.comments).toEqual(['ping']);
  expect(performance.now() - began).toBeGreaterThan(limits.stream.pingMs - 1_000);
  await context.expect.poll(() => client.retries).toHaveLength(2);
  expect(client.retries[1]).toBeGreaterThanOrEqual(8 * (60_000 / 100));
  expect(client.retries[1]).toBeLessThanOrEqual((8 + 22 * 1.5) * (60_000 / 100));
  await context.expect.poll(() => further.comments).toEqual(['ping']);
  for (const each of [client, further, ...elsewhere]) each.leave();
  expect(further.retries).toHaveLength(1);
});

test('limits a key to 200 streams over all processes, and releases slots', async () => {
  const own = await fixture.tenant();
  const log = await triggerRun(fixture, { url: api.url, ...own });
  const other = await fixture.start();
  const address = (i: number) => `${(i % 2 === 0 ? api : other).url}${pathOf(log.runId)}`;
  const clients = await Promise.all(
    Array.from({ length: limits.stream.perKey }, (_, i) =>
      openStream(address(i), { key: own.key }),
    ),
  );
  expect(clients.every(({ status }) => status === 200)).toBe(true);
  for (const process of [api, other]) {
    const refused = await caller(process, own.key)(pathOf(log.runId));
    expect(refused.status).toBe(429);
    expect(refused.json.error).toMatchObject({
      code: 'STREAM_LIMIT',
      limit: limits.stream.perKey,
      current: limits.stream.perKey,
    });
  }
  clients[0]?.leave();
  await expect
    .poll(async () => {
      const again = await openStream(address(1), { key: own.key });
      const { status } = again;
      if (status === 200) clients[0] = again;
      return status;
    })
    .toBe(200);
  for (const client of clients) client.leave();
});

test('a stream that cannot begin is disconnected and releases its slot', async () => {
  const own = await fixture.tenant();
  const { runId } = await triggerRun(fixture, { url: api.url, ...own });
  const failing = await fixture.start({
    metrics: {
      ...noopMetrics,
      streamOpened() {
        throw new Error('planted');
      },
    },
  });
  const headers = { authorization: `Bearer ${own.key}` };
  const answer = await fetch(`${failing.url}${pathOf(runId)}`, { headers });
  expect(await answer.text()).toBe('');
  const slots = createStreamSlots(await fixture.redis.connect(), fixture.redis);
  const request = { slotId: 'probe', keyId: own.keyId, projectId: own.projectId };
  await expect.poll(async () => (await slots.renew([request])).get(own.keyId)).toBe(1);
  expect(failing.log()).toMatch(/"err":\{[^}]*planted.*"msg":"stream_aborted"/);
});

test('limits a project to 1 000 streams over all keys and processes', async () => {
  const own = await fixture.tenant();
  const { projectId } = own;
  const { runId } = await triggerRun(fixture, { url: api.url, ...own });
  const other = await fixture.start();
  const named = { projectId, name: 'further', createdBy: 'ana' };
  const made = Array.from({ length: 6 }, () => fixture.stores.keys.create(named));
  const keys = (await Promise.all(made)).map(({ key }) => key);
  const open = (key: string, n: number) =>
    openStream(`${(n % 2 === 0 ? api : other).url}${pathOf(runId)}`, { key });
  // All but a few belong to other processes.
  const seats = createStreamSlots(fixture.redis.redis, fixture.redis);
  const otherSlots = Array.from({ length: limits.stream.perProject - keys.length }, (_, n) =>
    seats.claim({ slotId: `s-${n}`, keyId: `k-${n % 6}`, projectId }),
  );
  expect(new Set((await Promise.all(otherSlots)).map((taken) => taken?.allowed))).toEqual(
    new Set([true]),
  );
  const clients = await Promise.all(keys.map(open));
  expect(clients.map(({ status }) => status)).toEqual(keys.map(() => 200));
  for (const [n, key] of keys.entries()) {
    const refused = await caller(n % 2 === 0 ? api : other, key)(pathOf(runId));
    expect([refused.status, refused.json.error]).toMatchObject([
      429,
      { code: 'STREAM_LIMIT', limit: 1_000, current: 1_000 },
    ]);
  }
  // Another project is counted separately.
  const foreign = await openStream(`${api.url}${pathOf((await newRun()).runId)}`, tenant);
  expect(foreign.status).toBe(200);
  for (const client of [...clients, foreign]) client.leave();
});

test('a stopping process asks readers to reconnect, without loss', async () => {
  const leaving = await fixture.start();
  const log = await newRun();
  const address = `${leaving.url}${pathOf(log.runId)}`;
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => openStream(address, { key: tenant.key })),
  );
  await log.write([output('one\n'), assistant('one')]);
  await Promise.all(clients.map((client) => client.until((events) => events.at(-1)?.id === '2')));
  const began = performance.now();
  await leaving.close();
  expect(performance.now() - began).toBeLessThan(15_000);
  for (const client of clients) {
    await client.closed;
    expect(client.retries.at(-1)).toBeGreaterThanOrEqual(limits.stream.reconnectMinMs);
    expect(client.names()).not.toContain('finished');
  }
  await log.write([assistant('two')]);
  const back = await openStream(`${api.url}${pathOf(log.runId)}`, {
    key: tenant.key,
    lastEventId: '2',
  });
  await back.until((events) => events.at(-1)?.id === '3');
  expect(back.names()).toEqual(['status', 'assistant']);
  back.leave();
});

test('no key, prompt or query is found in any log', async () => {
  const own = await fixture.start();
  const secret = 'canary-in-a-prompt';
  const call = caller(own, tenant.key);
  const made = await call(`/api/v1/flows/${tenant.flowId}/runs`, {
    body: { prompt: secret, callbackUrl: `https://example.com/${secret}`, labels: { a: secret } },
  });
  const { runId } = made.json.data;
  const client = await openStream(`${own.url}${pathOf(runId)}?api_key=${tenant.key}`, {
    key: null,
  });
  await client.until((events) => events.length === 1);
  client.leave();
  const anyone = caller(own, null);
  await anyone(`${pathOf(runId)}?api_key=frs_${'B'.repeat(43)}`);
  await anyone(`/api/v1/runs/${runId}?api_key=${tenant.key}`);
  await anyone(`/api/v1/nothing?api_key=${tenant.key}`);
  await anyone(`/%zz?api_key=${tenant.key}`);
  await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: secret, [secret]: 1 } });
  await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: `{"prompt":"${secret}` });
  await own.close();
  const log = own.log();
  expect(log.split('\n').length).toBeGreaterThan(5);
  for (const word of [secret, tenant.key.slice(4), 'B'.repeat(43), 'api_key']) {
    expect(log).not.toContain(word);
  }
  expect((await fixture.redis.keys()).join()).not.toContain(tenant.key);
});
