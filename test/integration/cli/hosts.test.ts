import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHostStore, type Host } from '../../../systems/postgres/hosts/host-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Cli, cliWith } from '../../support/run-cli.ts';

let database: TestDatabase;
let flowrun: Cli;
beforeAll(async () => {
  database = await createTestDatabase();
  const encryptionKey = randomBytes(32).toString('base64');
  flowrun = cliWith({ DATABASE_URL: database.url, ENCRYPTION_KEY: encryptionKey });
});
afterAll(() => database?.drop());

it('lists, drains and undrains hosts', async () => {
  const hosts = createHostStore(database.pool);
  const renew = () => hosts.renew({ hostId: 'host-1', name: 'alpha', capacity: 4 });
  await renew();
  expect(await flowrun.json<Host[]>('host', 'list')).toMatchObject([
    { hostId: 'host-1', name: 'alpha', capacity: 4, used: 0, draining: false },
  ]);
  expect((await flowrun('host', 'drain', 'host-1')).err).toContain('is draining');
  expect(await renew()).toMatchObject({ draining: true });
  expect(await flowrun.json('host', 'undrain', 'host-1')).toEqual({
    hostId: 'host-1',
    draining: false,
  });
  expect(await renew()).toMatchObject({ draining: false });
  expect(await flowrun('host', 'drain', 'host-2')).toMatchObject({
    code: 1,
    err: expect.stringContaining('No such host: host-2'),
  });
});

it('finds a host by its name if the name is unique', async () => {
  const hosts = createHostStore(database.pool);
  for (const hostId of ['host-7', 'host-8']) {
    await hosts.renew({ hostId, name: hostId === 'host-7' ? 'seven' : 'host-7', capacity: 4 });
  }
  const drained = async (wanted: string) =>
    (await flowrun.json<{ hostId: string }>('host', 'drain', wanted)).hostId;
  expect(await drained('seven')).toBe('host-7');
  expect(await drained('host-7')).toBe('host-7');
  await hosts.renew({ hostId: 'host-9', name: 'seven', capacity: 4 });
  expect(await flowrun('host', 'drain', 'seven')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/2 hosts are named seven.*host-7, host-9/),
  });
});
