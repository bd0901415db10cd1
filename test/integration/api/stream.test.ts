import { expect, test } from 'vitest';
import type { Frame } from '../../../core/frames/frame.ts';
import { asEvents, expectFinished, openStream, type SseClient } from '../../support/sse-client.ts';
import { wrongIn } from '../../support/stream-page.ts';
import { caller } from './call.ts';
import { assistant, type LogWriter, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const newRun = (body: object = {}) => triggerRun(fixture, { url: api.url, ...tenant }, body);

function watch(log: LogWriter, lastEventId?: string): Promise<SseClient> {
  const address = `${api.url}/api/v1/runs/${log.runId}/stream`;
  return openStream(address, {
    key: tenant.key,
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
}

test('sends the status, then every frame as it is written, then the end', async () => {
  const log = await newRun();
  const client = await watch(log);
  expect(client.status).toBe(200);
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'referrer-policy': 'no-referrer',
    'x-ratelimit-limit': '10000',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  await client.until((events) => events.length === 1);
  await log.write([output('Hello\n'), assistant('Hello'), output('ünï\u2028 \u0000\n')]);
  await log.write([assistant('x'.repeat(40_000))]);
  await client.until((events) => events.length === 5);
  await log.end({ exitCode: 0 });
  await client.closed;
  expect(client.events).toEqual([
    { id: undefined, event: 'status', data: '{"status":"running","agentStatus":null}' },
    ...asEvents(log.stored),
    { id: undefined, event: 'status', data: '{"status":"sleep","agentStatus":null}' },
    { id: '5', event: 'finished', data: expect.any(String) },
  ]);
  expectFinished(client, { sessionId: log.runId, reason: 'completed', exitCode: 0 });
});

test('a first connection gets the rendered log in one output, then structured frames, then live ones', async () => {
  const log = await newRun();
  await log.write([output('one\n'), assistant('one'), output('two\n'), assistant('two')]);
  const client = await watch(log);
  await client.until((events) => events.length === 4);
  await log.write([output('three\n'), assistant('three')]);
  await client.until((events) => events.length === 6);
  client.leave();
  expect(client.events.slice(1)).toEqual([
    { id: undefined, event: 'output', data: '{"data":"one\\ntwo\\n"}' },
    ...asEvents(log.stored.filter(({ seq, event }) => event !== 'output' || seq > 4)),
  ]);
});

test('a resumed stream has everything after its ID and nothing before', async () => {
  const log = await newRun();
  await log.write([output('one\n'), assistant('one'), output('two\n'), assistant('two')]);
  const resumed = [await watch(log, '2'), await watch(log, '4'), await watch(log, '99999')];
  const address = `${api.url}/api/v1/runs/${log.runId}/stream?lastEventId=2`;
  resumed.push(await openStream(address, { key: tenant.key, lastEventId: '3' }));
  await log.write([output('three\n')]);
  for (const [i, after] of [2, 4, 4, 3].entries()) {
    const client = resumed[i] as SseClient;
    await client.until((events) => events.at(-1)?.id === '5');
    expect(client.events.slice(1)).toEqual(asEvents(log.stored.filter(({ seq }) => seq > after)));
    client.leave();
  }
  const bad = await caller(api, tenant.key)(`/api/v1/runs/${log.runId}/stream?lastEventId=x`);
  expect(bad.status).toBe(400);
});

test.each([
  [{ cause: 'completed', exitCode: 0 }, 'completed'],
  [{ cause: 'exited', exitCode: 3 }, 'error'],
  [{ cause: 'stopped_by_api', exitCode: 143 }, 'stopped'],
  [{ cause: 'deleted_by_api', exitCode: null }, 'deleted'],
  [{ cause: 'container_start_failed', exitCode: null }, 'no_upstream'],
  [{ cause: 'timed_out', exitCode: null }, 'error'],
] as const)('after %j the stream ends with the reason %s', async (end, reason) => {
  const log = await newRun();
  const client = await watch(log);
  await log.write([assistant('one')]);
  await log.end(end);
  await client.closed;
  const exitCode = end.exitCode === null ? {} : { exitCode: end.exitCode };
  expectFinished(client, { sessionId: log.runId, reason, ...exitCode });
  expect(client.events.at(-1)?.event).toBe('finished');
});

test('a stream after the end has the log and `already_ended`', async () => {
  const log = await newRun();
  await log.write([output('one\n'), assistant('one')]);
  await log.end({ cause: 'exited', exitCode: 3 });
  const client = await watch(log);
  await client.closed;
  expect(client.names()).toEqual(['status', 'output', 'assistant', 'finished']);
  expect(JSON.parse(client.events[0]?.data ?? '')).toMatchObject({ status: 'sleep' });
  expectFinished(client, { sessionId: log.runId, reason: 'already_ended', exitCode: 3 });

  const again = await watch(log, client.events.at(-1)?.id);
  await again.closed;
  expect(again.names()).toEqual(['status', 'finished']);
});

test.each([
  ['a run', {}],
  ['a run with deltas', { partialMessages: true }],
])('%s loses nothing when Redis is flushed, or without notifications', async (_what, body) => {
  const log = await newRun(body);
  const client = await watch(log);
  const batch = (from: number): Frame[] => [output(`line ${from}\n`), assistant(`line ${from}`)];
  await log.write(batch(1));
  await fixture.redis.redis.del(...(await fixture.redis.keys()));
  await log.write(batch(2));
  await log.write(batch(3), { publish: false });
  await log.write(batch(4));
  await client.until((events) => events.length === 9);
  await log.write(batch(5), { publish: false });
  await client.until((events) => events.length === 11);
  await fixture.redis.redis.del(...(await fixture.redis.keys()));
  await log.end();
  await client.closed;
  expect(client.events.slice(1, -2)).toEqual(asEvents(log.stored));
});

test('continues from Postgres while Redis is unreachable', async () => {
  const lost = await fixture.start();
  const log = await newRun();
  lost.redis.disconnect();
  await lost.redis.quit().catch(() => undefined);
  const client = await openStream(`${lost.url}/api/v1/runs/${log.runId}/stream`, {
    key: tenant.key,
  });
  for (let i = 0; i < 5; i += 1) {
    await log.write([output(`${i}\n`)]);
    await client.until((events) => events.length === i + 2);
  }
  await log.end();
  await client.closed;
  expect(client.events.slice(1, -2)).toEqual(asEvents(log.stored));
});

test('sends token deltas after the frame that they follow, only to a run that asked for them', async () => {
  const delta = (n: number) => `{"type":"stream_event","event":{"type":"message_stop"},"n":${n}}`;
  const deltas = [delta(1), delta(2)];
  for (const partialMessages of [true, false]) {
    const log = await newRun({ partialMessages });
    const client = await watch(log);
    await client.until((events) => events.length === 1);
    await log.write([assistant('one')], { deltas });
    await log.write([], { deltas: [delta(3)] });
    await log.write([assistant('two')]);
    await client.until((events) => events.at(-1)?.id === '2');
    client.leave();
    const names = client.names().slice(1);
    if (!partialMessages) expect(names).toEqual(['assistant', 'assistant']);
    else
      expect(names).toEqual([
        'assistant',
        'stream_event',
        'stream_event',
        'stream_event',
        'assistant',
      ]);
    const sent = client.events.filter(({ event }) => event === 'stream_event');
    expect(sent.every(({ id }) => id === undefined || id === '1')).toBe(true);
  }
});

test('sends the working directory on connect and after changes', async () => {
  const log = await newRun();
  const tree = (name: string) => JSON.stringify([{ name, path: name, type: 'file' }]);
  const early = await watch(log);
  await early.until((events) => events.length === 1);
  await fixture.frameStream.publishFileTree(log.runId, tree('a'));
  await early.until((events) => events.length === 2);
  await fixture.frameStream.publishFileTree(log.runId, tree('a'));
  await fixture.frameStream.publishFileTree(log.runId, tree('b'));
  await early.until((events) => events.at(-1)?.data === tree('b'));
  await log.write([output('x\n')]);
  const late = await watch(log);
  await late.until((events) => events.length === 3);
  expect(late.names()).toEqual(['status', 'filetree', 'output']);
  expect(late.events[1]).toEqual({ id: undefined, event: 'filetree', data: tree('b') });
  expect(early.events.filter(({ event }) => event === 'filetree').map(({ data }) => data)).toEqual([
    tree('a'),
    tree('b'),
  ]);
  early.leave();
  late.leave();
});

test('reports pruned frames once, before the rest', async () => {
  const log = await newRun();
  await log.write(
    Array.from({ length: 10 }, (_, i) => assistant(`${i}`)),
    { publish: false },
  );
  await fixture.database.pool.query('delete from frames where run_id = $1 and seq <= 4', [
    log.runId,
  ]);
  const fresh = await watch(log);
  await fresh.until((events) => events.at(-1)?.id === '10');
  expect(fresh.names().slice(0, 3)).toEqual(['status', 'replay_truncated', 'assistant']);
  expect(JSON.parse(fresh.events[1]?.data ?? '')).toEqual({
    instanceId: log.runId,
    firstAvailableSeq: 5,
  });
  expect(wrongIn(fresh.events[1])).toEqual([]);
  expect(fresh.names().filter((name) => name === 'replay_truncated')).toHaveLength(1);
  const resumed = await watch(log, '2');
  await resumed.until((events) => events.at(-1)?.id === '10');
  expect(resumed.names().slice(0, 3)).toEqual(['status', 'replay_truncated', 'assistant']);
  const complete = await watch(log, '4');
  await complete.until((events) => events.at(-1)?.id === '10');
  expect(complete.names()).not.toContain('replay_truncated');
  for (const client of [fresh, resumed, complete]) client.leave();
});

test('is 404 for a run that was deleted, and of another project', async () => {
  const log = await newRun();
  const otherTenant = await fixture.tenant();
  const path = `/api/v1/runs/${log.runId}/stream`;
  expect((await caller(api, otherTenant.key)(path)).status).toBe(404);
  await caller(api, tenant.key)(`/api/v1/runs/${log.runId}`, { method: 'DELETE' });
  expect((await caller(api, tenant.key)(path)).status).toBe(404);
});
