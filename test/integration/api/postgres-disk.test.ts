// The disk of Postgres, here a small file system in memory, is short and gets room again.

import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDisk, type PostgresDisk } from '../../../api/postgres-disk.ts';
import { createLogger } from '../../../config/logger.ts';
import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, chatOf, sessionsOf, messages } = useSessions();
const miB = 1024 ** 2;
const reserveBytes = 32 * miB;
let dir: string;
let disk: PostgresDisk;
let api: ApiProcess;
let log: string[];

const watchedDisk = (of: string | null): PostgresDisk =>
  createPostgresDisk({
    ...{ dir: of, reserveBytes },
    logger: createLogger({ level: 'info', name: 'test' }, { write: (line) => log.push(line) }),
  });

beforeAll(async () => {
  log = [];
  dir = mkdtempSync(join(tmpdir(), 'postgres-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dir]);
  writeFileSync(join(dir, 'rows'), '');
  disk = watchedDisk(dir);
  api = await fixture.start({ postgresDisk: disk });
});
afterAll(() => {
  execFileSync('umount', [dir]);
  rmdirSync(dir);
});

/** Leaves exactly the reserve free, or one page less if `how` is `beyond`. */
async function fill(how: 'to the reserve' | 'beyond'): Promise<void> {
  truncateSync(join(dir, 'rows'));
  appendFileSync(join(dir, 'rows'), Buffer.alloc(reserveBytes));
  if (how === 'beyond') appendFileSync(join(dir, 'rows'), ' ');
  await disk.read();
}

const file = () => ({
  ...{ path: `${randomUUID()}.bin`, content: randomBytes(10).toString('base64') },
  encoding: 'base64',
});

const short = [
  503,
  { error: { code: 'UPSTREAM_UNAVAILABLE', message: expect.stringContaining('almost full') } },
  '30',
];
const answerOf = ({ status, json, headers }: Answer) => [status, json, headers.get('retry-after')];

/** Everything that a request could have stored. */
async function rowsOf({ projectId }: Tenant): Promise<unknown> {
  const text = `select
    (select count(*) from runs where project_id = $1) as runs,
    (select count(*) from blobs) as blobs,
    (select count(*) from idempotency_keys where project_id = $1) as keys,
    (select coalesce(sum(admitted), 0) from monthly_runs where project_id = $1) as admitted`;
  return (await fixture.database.pool.query(text, [projectId])).rows[0];
}

describe('while the disk of Postgres is short', () => {
  test('new runs, sessions, messages and files get 503, and nothing is stored', async () => {
    const tenant = await fixture.tenant();
    const call = caller(api, tenant.key);
    const trigger = (body: object = {}) =>
      call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go', ...body } });
    const open = (body: object = {}) => call(sessionsOf(tenant), { body });
    const chat = chatOf(tenant, api);
    const say = (body: object = {}) => chat({ message: 'Hi', sessionId: 'open', ...body });
    await fill('to the reserve');
    const first = await trigger({ idempotencyKey: 'again' });
    expect(first.status).toBe(201);
    const ended = (await trigger()).json.data.runId;
    const end = { runId: ended, cause: 'completed', detail: null, exitCode: 0 } as const;
    await fixture.stores.runs.endRun(end);
    const { runId } = (await open({ sessionId: 'open' })).json.data;
    const said = await say({ clientMessageId: 'first' });
    expect(said.status).toBe(202);

    await fill('beyond');
    const before = await rowsOf(tenant);
    const files = [file()];
    const running = `/api/v1/runs/${first.json.data.runId}`;
    const rejected = await Promise.all([
      ...[trigger(), trigger({ idempotencyKey: 'other' }), trigger({ files })],
      call(`/api/v1/runs/${ended}/retry`, { body: {} }),
      ...[open(), open({ sessionId: 'another' })],
      ...[say(), say({ clientMessageId: 'second' }), say({ files }), chat({ message: 'Hi' })],
      call(`/api/v1/runs/${runId}/files`, { body: { files } }),
    ]);
    for (const answer of rejected) expect(answerOf(answer)).toEqual(short);
    expect(await rowsOf(tenant)).toEqual(before);
    expect(await messages(runId)).toBe(1);

    // What was accepted before is answered as before, and can be read and stopped.
    expect(await trigger({ idempotencyKey: 'again' })).toMatchObject({
      ...{ status: 200, json: { data: { runId: first.json.data.runId } } },
    });
    const { messageId } = said.json.data;
    expect((await say({ clientMessageId: 'first' })).json.data.messageId).toBe(messageId);
    expect((await open({ sessionId: 'open' })).status).toBe(201);
    expect((await call(running)).status).toBe(200);
    expect((await call(`${running}/logs`)).status).toBe(200);
    expect((await call(`${running}/stop`, { body: {} })).status).toBeLessThan(300);
    expect((await call(`/api/v1/runs/${runId}`, { method: 'DELETE' })).status).toBeLessThan(300);

    await fill('to the reserve');
    expect((await trigger({ idempotencyKey: 'other' })).status).toBe(201);
  });

  test('the API is ready, says how much is free, and logs each change once', async () => {
    await fill('beyond');
    const ready = await caller(api, null)('/readyz');
    const { freeBytes } = ready.json.data.postgresDisk;
    expect([ready.status, ready.json.data.postgresDisk]).toEqual([
      200,
      { freeBytes, reserveBytes },
    ]);
    expect(freeBytes).toBeLessThan(reserveBytes);
    log = [];
    await disk.read();
    await fill('to the reserve');
    await disk.read();
    await fill('beyond');
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: 'postgres_disk_recovered', freeBytes: reserveBytes, reserveBytes },
      { level: 'error', msg: 'postgres_disk_short', freeBytes, reserveBytes },
    ]);
  });

  test('the free space is read periodically, without a request', async () => {
    await fill('to the reserve');
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const watch = disk.watch(stop.signal);
    appendFileSync(join(dir, 'rows'), ' ');
    await expect.poll(() => disk.isShort(), { timeout: 60_000 }).toBe(true);
    stop.abort();
    await watch;
  });
});

test('a directory that is missing or not configured rejects nothing, and is logged once', async () => {
  log = [];
  const missing = watchedDisk(join(dir, 'missing'));
  await missing.read();
  await missing.read();
  expect([missing.isShort(), missing.last()]).toEqual([false, null]);
  expect(log.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'postgres_disk_unknown', dir: join(dir, 'missing') },
  ]);
  const none = watchedDisk(null);
  await none.read();
  await none.watch(new AbortController().signal);
  expect([none.isShort(), none.last()]).toEqual([false, null]);
});
