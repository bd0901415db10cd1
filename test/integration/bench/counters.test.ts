import { expect, test } from 'vitest';
import { createDockerCounter } from '../../../bench/counters/docker-counter.ts';
import { createPostgresCounter } from '../../../bench/counters/postgres-counter.ts';
import { openTcpTap } from '../../../bench/counters/tcp-tap.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { createPool } from '../../../systems/postgres/client/pool.ts';
import { createTestDatabase } from '../../support/database.ts';

test('counts the statements of each program', async () => {
  const database = await createTestDatabase();
  const direct = new URL(database.url);
  const tapped = new URL(direct);
  tapped.port = String(await freePort());
  const counter = createPostgresCounter();
  const tap = await openTcpTap({
    listen: { host: '127.0.0.1', port: Number(tapped.port) },
    to: { host: direct.hostname, port: Number(direct.port) },
    onConnection: counter.onConnection,
  });
  const pool = createPool(tapped.href, { applicationName: 'one of many', max: 3 });
  await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query('select $1::int', [n])));
  await pool.query('select 1');
  await pool.query(`select $1 -- insert into frames`, ['x'.repeat(100_000)]);
  await pool.end();
  await tap.close();
  await database.drop();
  expect(counter.of('one of many')).toEqual({ statements: 22, appends: 1 });
  expect(counter.of('another').statements).toBe(0);
});

test('counts calls to the engine by kind', () => {
  const counter = createDockerCounter();
  const see = counter.onConnection();
  const id = 'ab'.repeat(32);
  see(Buffer.from('POST /containers/create?name=x HTTP/1.1\r\nHost: y\r\n\r\n{"Cmd":[]}'));
  see(Buffer.from(`GET /v1.41/containers/${id}/json HTTP/1.1\r\nHost: y\r\n\r\n`));
  see(Buffer.from(`GET /containers/${id}/json HTTP/1.1\r\nHost: y\r\n\r\n`));
  expect(counter.counts()).toEqual({
    'POST /containers/create': 1,
    'GET /containers/…/json': 2,
  });
});
