// The memory of a Redis of the test's own, which is changed while it runs.

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../dev/stack/ports.ts';
import { createHostStore } from '../../../systems/postgres/hosts/host-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Doctor, doctorWith } from '../../support/doctor-fixture.ts';
import { openRedis, type RedisFixture } from '../../support/redis-fixture.ts';
import { startRedis } from '../../support/redis-process.ts';

let database: TestDatabase;
let server: ChildProcess;
let redis: RedisFixture;
let doctor: Doctor;

beforeAll(async () => {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}/0`;
  [database, server] = await Promise.all([createTestDatabase(), startRedis(port)]);
  redis = await openRedis(url);
  const encryptionKey = randomBytes(32).toString('base64');
  doctor = doctorWith({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: encryptionKey,
    REDIS_URL: url,
  });
  const hosts = createHostStore(database.pool);
  await hosts.renew({ hostId: 'a', name: 'a', capacity: 3 });
  await hosts.renew({ hostId: 'b', name: 'b', capacity: 1 });
  await hosts.renew({ hostId: 'stopped', name: 'stopped', capacity: 100 });
  await hosts.markStopped('stopped');
});
afterAll(async () => {
  await redis?.close();
  server?.kill('SIGKILL');
  await database?.drop();
});

test('compares the memory limit of Redis with what the slots of all hosts need', async () => {
  expect((await doctor()).of('redis memory')).toMatchObject({
    state: 'ok',
    facts: [expect.stringMatching(/^[\d.]+ MiB used$/), 'no limit'],
  });
  await redis.redis.config('SET', 'maxmemory', '224mb');
  expect((await doctor()).of('redis memory')).toMatchObject({
    state: 'ok',
    facts: [expect.stringMatching(/^[\d.]+ MiB of 224\.0 MiB used$/), 'noeviction'],
  });
  await redis.redis.config('SET', 'maxmemory', String(224 * 1024 ** 2 - 1));
  expect((await doctor()).about('redis_memory_short')).toMatch(
    /but 4 slots may need 224\.0 MiB\. Set maxmemory .*REDIS_MAX_MEMORY.* to 224mb or more/,
  );
});

test('reports a policy that deletes keys', async () => {
  await redis.redis.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'volatile-lru');
  const diagnosis = await doctor();
  expect(diagnosis.about('redis_evicts')).toMatch(/volatile-lru.*Set maxmemory-policy.*noeviction/);
  await redis.redis.config('SET', 'maxmemory-policy', 'noeviction');
  expect((await doctor()).of('redis memory').state).toBe('ok');
});
