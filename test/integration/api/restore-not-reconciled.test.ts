// The database was restored from a backup, and its losses are not known yet. Requests that could
// repeat lost work are asked to retry later, and no other request waits.

import { beforeAll, expect, test } from 'vitest';
import type { Answer } from './call.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, tenant, call, chat, sessionsOf } = useSessions();
const query = (text: string) => fixture.database.pool.query<{ count: number }>(text);

const runsOf = () => `/api/v1/flows/${tenant.flowId}/runs`;
const trigger = (idempotencyKey?: string, files: object[] = []) =>
  call(runsOf(), { body: { prompt: 'Go', files, ...(idempotencyKey && { idempotencyKey }) } });
const open = (sessionId?: string) =>
  call(sessionsOf(), { body: { ...(sessionId && { sessionId }) } });

let knownSession: string;
beforeAll(async () => {
  expect((await trigger('known')).status).toBe(201);
  knownSession = (await open()).json.data.sessionId;
  await query('select record_restore(db_clock())');
});

const count = async () =>
  (await query('select count(*)::int as count from runs')).rows[0]?.count ?? 0;

const file = { path: 'a.txt', content: 'a', encoding: 'utf8' };
const maybeLost: [string, () => Promise<Answer>][] = [
  ['a run with a key', () => trigger('k')],
  ['one that brings files', () => trigger('k', [file])],
  ['a session by its id', () => open('chosen')],
  ['a first message that may be sent again', () => chat({ message: 'Hi', clientMessageId: 'm' })],
];

test.each(maybeLost)('%s is rejected for now', async (_, ask) => {
  const before = await count();
  const { status, json, headers } = await ask();
  expect([status, json.error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
  expect(headers.get('retry-after')).toBe('5');
  expect(await count()).toBe(before);
});

test('answers known requests and starts new ones', async () => {
  expect((await trigger('known')).status).toBe(200);
  expect((await trigger()).status).toBe(201);
  expect((await open(knownSession)).status).toBe(201);
  expect((await open()).status).toBe(201);
  expect((await chat({ message: 'Hi' })).status).toBe(202);
});

test('admits everything once the restore is reconciled', async () => {
  await query('update restores set reconciled_at = db_clock()');
  const statuses = [];
  for (const [, ask] of maybeLost) statuses.push((await ask()).status);
  expect(statuses).toEqual([201, 200, 201, 202]);
});

test('rejects the retry of a run that was lost in the restore', async () => {
  const { json } = await trigger();
  const { runId } = json.data;
  await query(`update runs set end_cause = 'lost_in_restore', status = 'sleep', agent_status = null,
    ended_at = db_clock() where id = '${runId}'`);
  expect((await call(`/api/v1/runs/${runId}`)).json.data.error).toBe('lost_in_restore');
  const { status, json: refused } = await call(`/api/v1/runs/${runId}/retry`, { body: {} });
  expect([status, refused.error.message]).toEqual([
    400,
    expect.stringContaining('was lost in a restore'),
  ]);
});

test('rejects what a new Postgres server may have lost, until every live host has sent a heartbeat', async () => {
  const { hosts } = fixture.stores;
  const renew = (hostId: string) => hosts.renew({ hostId, name: hostId, capacity: 9 });
  const statuses = async () => [(await trigger('fresh')).status, (await open('fresh')).status];
  for (const hostId of ['a', 'b', 'gone', 'stopped']) await renew(hostId);
  await hosts.markStopped('stopped');
  await query(`update hosts set server_started_at = server_started_at - interval '1 hour'`);
  await query(`update hosts set last_seen = last_seen - interval '1 hour' where id = 'gone'`);
  expect(await statuses()).toEqual([503, 503]);
  expect((await trigger()).status).toBe(201);
  await renew('a');
  expect(await statuses()).toEqual([503, 503]);
  await renew('b');
  expect(await statuses()).toEqual([201, 201]);
});

test('rejects it without a live host, until the first one sends a heartbeat', async () => {
  const { hosts } = fixture.stores;
  await query(`update hosts set server_started_at = server_started_at - interval '1 hour',
    last_seen = last_seen - interval '1 hour'`);
  expect((await trigger('first')).status).toBe(503);
  await hosts.renew({ hostId: 'c', name: 'c', capacity: 9 });
  expect((await trigger('first')).status).toBe(201);
});
