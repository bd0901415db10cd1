import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyStore, type NewKey } from '../../../../systems/postgres/accounts/key-store.ts';
import { createPool } from '../../../../systems/postgres/client/pool.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { setDatabaseClock } from './clock.ts';

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ projectId } = await createScenario(database.pool, testSealer));
});
afterAll(() => database.drop());

const keys = () => createKeyStore(database.pool);
const create = (given: Partial<NewKey> = {}) =>
  keys().create({ projectId, name: 'ci', createdBy: 'ana', ...given });

test('a key is 43 random characters, found only by its whole text, and stored as a hash', async () => {
  const { key, record } = await create({ rateLimitRpm: 10_000 });
  expect(key).toMatch(/^frs_[0-9A-Za-z]{43}$/);
  expect(record).toMatchObject({ projectId, name: 'ci', createdBy: 'ana', rateLimitRpm: 10_000 });
  expect(record).toMatchObject({
    shownPrefix: key.slice(0, 12),
    state: 'active',
    lastUsedAt: null,
  });
  expect(await keys().findByKey(key)).toEqual(record);
  for (const wrong of ['', 'frs_', key.slice(0, -1), `${key} `, key.toLowerCase()]) {
    expect(await keys().findByKey(wrong)).toBeNull();
  }
  const { rows } = await database.pool.query('select k::text as text from api_keys k');
  expect(rows.filter((row) => row.text.includes(key.slice(12)))).toEqual([]);
});

test('keys use every character about equally often', async () => {
  const made = await Promise.all(Array.from({ length: 200 }, () => create()));
  const counts = new Map<string, number>();
  for (const char of made.flatMap(({ key }) => key.slice(4).split(''))) {
    counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  // 8 600 characters, 139 expected of each: seven standard deviations to either side.
  expect(counts.size).toBe(62);
  expect(Math.min(...counts.values())).toBeGreaterThan(55);
  expect(Math.max(...counts.values())).toBeLessThan(223);
});

test('the database rejects a rate beyond the limits too', async () => {
  await expect(create({ rateLimitRpm: 0 })).rejects.toThrow('rate_limit_rpm');
  await expect(create({ rateLimitRpm: 10_001 })).rejects.toThrow('rate_limit_rpm');
});

test('a revoked key is revoked for every process at once, and for good', async () => {
  const { key, record } = await create();
  const other = createPool(database.url, { applicationName: 'other-api' });
  expect(await createKeyStore(other).findByKey(key)).toMatchObject({ state: 'active' });
  const revoked = await keys().revoke(record.keyId);
  expect(revoked).toMatchObject({ state: 'revoked', revokedAt: expect.any(Date) });
  expect(await createKeyStore(other).findByKey(key)).toEqual(revoked);
  expect(await keys().revoke(record.keyId)).toEqual(revoked);
  expect(await keys().revoke(randomUUID())).toBeNull();
  await other.end();
});

test('a list has the keys of its project in order of creation', async () => {
  const scenario = await createScenario(database.pool, testSealer);
  const [first, second] = [
    (await create({ projectId: scenario.projectId })).record,
    (await create({ projectId: scenario.projectId })).record,
  ];
  const listed = await keys().list(scenario.projectId);
  expect(listed).toHaveLength(2);
  expect(listed).toEqual(expect.arrayContaining([first, second]));
});

test('use is marked for many keys at once, by many processes, without a deadlock', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => create()));
  const ids = made.map(({ record }) => record.keyId);
  const orders = [ids, [...ids].reverse(), [...ids].sort()];
  await Promise.all(Array.from({ length: 30 }, (_, n) => keys().touch(orders[n % 3] ?? ids)));
  await keys().touch([]);
  await keys().touch([randomUUID()]);
  const { key } = made[0] ?? { key: '' };
  expect(await keys().findByKey(key)).toMatchObject({ lastUsedAt: expect.any(Date) });
});

test('a key expires by the database’s clock, and its last use never goes back', async () => {
  const own = await createTestDatabase();
  const scenario = await createScenario(own.pool, testSealer);
  const store = createKeyStore(own.pool);
  const expiresAt = new Date('2030-01-01T00:00:00.000Z');
  const { key, record } = await store.create({
    ...{ projectId: scenario.projectId, name: 'ci', createdBy: 'ana' },
    expiresAt,
  });
  await setDatabaseClock(own.pool, '2029-12-31T23:59:59.999Z');
  await store.touch([record.keyId]);
  const lastUsedAt = new Date('2029-12-31T23:59:59.999Z');
  expect(await store.findByKey(key)).toMatchObject({ state: 'active', expiresAt, lastUsedAt });
  await setDatabaseClock(own.pool, '2029-06-01T00:00:00.000Z');
  await store.touch([record.keyId]);
  expect(await store.findByKey(key)).toMatchObject({ lastUsedAt });
  await setDatabaseClock(own.pool, expiresAt.toISOString());
  expect(await store.findByKey(key)).toMatchObject({ state: 'expired' });
  await store.revoke(record.keyId);
  expect(await store.findByKey(key)).toMatchObject({ state: 'revoked' });
  await own.drop();
});
