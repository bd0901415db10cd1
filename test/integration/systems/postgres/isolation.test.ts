// A database whose default isolation level is not the one that the service needs.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createPool, type Pool } from '../../../../systems/postgres/client/pool.ts';
import {
  inBriefTransaction,
  inDryRun,
  inTransaction,
} from '../../../../systems/postgres/client/transaction.ts';
import { createHostStore } from '../../../../systems/postgres/hosts/host-store.ts';
import { migrate } from '../../../../systems/postgres/schema/migrate.ts';
import { createMessageStore } from '../../../../systems/postgres/sessions/message-store.ts';
import { createEmptyDatabase, type TestDatabase, testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createEmptyDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(
    `alter database ${name} set default_transaction_isolation = 'repeatable read'`,
  );
  await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
  pool = createPool(database.url, { applicationName: 'test-isolation', max: 20 });
});
beforeEach(() => pool.query('truncate projects, hosts cascade'));
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const level = `select current_setting('transaction_isolation') as level`;
const readCommitted = [{ level: 'read committed' }];

test('every statement of the service is read committed, in a transaction or not', async () => {
  const { rows } = await pool.query(level);
  expect(rows).toEqual(readCommitted);
  for (const run of [inTransaction, inBriefTransaction, inDryRun]) {
    expect((await run(pool, (db) => db.query(level))).rows).toEqual(readCommitted);
  }
});

test('a transaction states its level, also on a connection whose default is another', async () => {
  const plain = new pg.Pool({ connectionString: database.url });
  try {
    expect((await plain.query(level)).rows).toEqual([{ level: 'repeatable read' }]);
    for (const run of [inTransaction, inBriefTransaction, inDryRun]) {
      expect((await run(plain, (db) => db.query(level))).rows).toEqual(readCommitted);
    }
  } finally {
    await plain.end();
  }
});

test('two hundred triggers at once stay within the limit and the capacity', async () => {
  await createHostStore(pool).renew({ hostId: 'h', name: 'h', capacity: 4 });
  const project = { maxConcurrentRuns: 10 };
  const scenario = await createScenario(pool, testSealer, { project });
  const admission = createAdmission(pool, testSealer);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => admission.admitRun(scenario.request())),
  );
  const admitted = answers.flatMap((one) => (one.outcome === 'admitted' ? [one.run] : []));
  expect(admitted).toHaveLength(10);
  expect(admitted.filter(({ hostId }) => hostId === 'h')).toHaveLength(4);
});

test('messages that wake forty sessions at once stay within the limit', async () => {
  const project = { maxConcurrentRuns: 5 };
  const scenario = await createScenario(pool, testSealer, { project });
  const sessions = [];
  for (let n = 0; n < 40; n += 1) sessions.push(await scenario.session());
  const messages = createMessageStore(pool);
  const answers = await Promise.all(
    sessions.map(({ runId }) =>
      messages.store({ runId, messageId: randomUUID(), clientMessageId: null, text: 'Hi.' }),
    ),
  );
  expect(answers.filter(({ outcome }) => outcome === 'stored')).toHaveLength(5);
});

test('a connection that lost its level, as through a pooler, counts nothing', async () => {
  const scenario = await createScenario(pool, testSealer);
  const { runId } = await scenario.session();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    expect((await client.query(level)).rows).toEqual([{ level: 'repeatable read' }]);
    const statements = [
      'select lock_placement()',
      `select store_message('${runId}', '${randomUUID()}', null, 'Hi.', 50, '30 s', true, false, false)`,
    ];
    for (const text of statements) {
      await expect(client.query(text)).rejects.toThrow('must be read committed');
    }
  } finally {
    await client.end();
  }
});
