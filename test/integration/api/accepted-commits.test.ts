// The commits that Redis records, and a database that has lost one of them.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { createLossStore } from '../../../systems/postgres/hosts/known-database.ts';
import { createAcceptedIds } from '../../../systems/redis/accepted-ids.ts';
import { redisKeys } from '../../../systems/redis/keys.ts';
import { purgeRuns } from '../../../systems/redis/purge-runs.ts';
import { readCommits } from '../../../systems/redis/read-commits.ts';
import { lostRedis } from '../../support/redis-fixture.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { caller } from './call.ts';
import { assistant, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();
const instance = () => ({ url: stackEnv.redisUrl, instance: fixture.redis.instance });
const read = () => readCommits(instance());
const readIds = async () => (await read()).acceptedIds;
const isLacking = async () => createLossStore(fixture.database.pool).lacksAny(await read());
const path = () => `/api/v1/flows/${tenant.flowId}`;
const openSession = async (): Promise<{ sessionId: string; runId: string }> =>
  (await call(`${path()}/sessions`, { body: {} })).json.data;

test('a run, a session and a message are missed if the database lacks one of them', async () => {
  const run = await call(`${path()}/runs`, { body: { prompt: 'Go' } });
  const { sessionId, runId } = await openSession();
  const message = await call(`${path()}/chat`, { body: { message: 'Hello', sessionId } });
  const ids = [run.json.data.runId, runId, message.json.data.messageId];
  await expect.poll(readIds).toEqual(expect.arrayContaining(ids));
  expect(await isLacking()).toBe(false);
  await fixture.database.pool.query('delete from session_messages where id = $1', [ids[2]]);
  expect(await isLacking()).toBe(true);
  await purgeRuns(instance());
  expect(await isLacking()).toBe(false);
  createAcceptedIds(fixture.redis.redis, fixture.redis).add(randomUUID());
  await expect.poll(isLacking).toBe(true);
  await purgeRuns(instance());
});

test('a frame is missed if the stream has it and the log does not', async () => {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  await log.write([assistant('one'), assistant('two')], { deltas: ['{}', '{}'] });
  expect((await read()).lastFrames).toEqual([{ runId: log.runId, seq: 2 }]);
  expect(await isLacking()).toBe(false);
  const text = 'update run_logs set last_seq = 1 where run_id = $1';
  await fixture.database.pool.query(text, [log.runId]);
  expect(await isLacking()).toBe(true);
  await purgeRuns(instance());
});

test('keeps IDs for a minute, a bounded number of them, and none for long', async () => {
  const { redis } = fixture.redis;
  const { accepted } = redisKeys(fixture.redis.instance);
  const { acceptedKeptMs, acceptedMax, acceptedTtlMs } = limits.redis;
  const old = Array.from({ length: acceptedMax }, (_, nth) => [
    `${Date.now() - nth}`,
    `old-${nth}`,
  ]);
  await redis.zadd(accepted, ...old.flat());
  await redis.zadd(accepted, `${Date.now() - acceptedKeptMs - 1}`, 'expired');
  createAcceptedIds(redis, fixture.redis).add('new');
  await expect.poll(() => redis.zcard(accepted)).toBe(acceptedMax);
  const ids = await readIds();
  expect([ids.includes('expired'), ids.includes('new'), ids.includes('old-0')]).toEqual([
    false,
    true,
    true,
  ]);
  expect(ids).not.toContain(`old-${acceptedMax - 1}`);
  expect(await redis.pttl(accepted)).toBeLessThanOrEqual(acceptedTtlMs);
  await purgeRuns(instance());
});

test('a trigger needs no Redis for its ID', async () => {
  const acceptedIds = createAcceptedIds(lostRedis(), fixture.redis);
  const other = caller(await fixture.start({ acceptedIds }), tenant.key);
  const run = await other(`${path()}/runs`, { body: { prompt: 'Go' } });
  expect(run.status).toBe(201);
});
