import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHostStore, type Host } from '../../systems/postgres/host-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Cli, cliWith } from './run-cli.ts';

let database: TestDatabase;
let flowrun: Cli;
beforeAll(async () => {
  database = await createTestDatabase();
  const encryptionKey = randomBytes(32).toString('base64');
  flowrun = cliWith({ DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey });
});
afterAll(() => database?.drop());

it('lists the hosts, and drains one until it is told otherwise', async () => {
  const hosts = createHostStore(database.pool);
  const renew = () => hosts.renew({ hostId: 'host-1', name: 'alpha', capacity: 4 });
  await renew();
  expect(await flowrun.json<Host[]>('host', 'list')).toMatchObject([
    { hostId: 'host-1', name: 'alpha', capacity: 4, used: 0, draining: false },
  ]);
  expect((await flowrun('host', 'drain', 'host-1')).err).toContain('takes nothing new');
  expect(await renew()).toEqual({ draining: true });
  expect(await flowrun.json('host', 'undrain', 'host-1')).toEqual({
    hostId: 'host-1',
    draining: false,
  });
  expect(await renew()).toEqual({ draining: false });
  expect(await flowrun('host', 'drain', 'host-2')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no host host-2'),
  });
});
