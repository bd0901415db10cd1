import { expect, test, vi } from 'vitest';
import { lockInitialResources } from '../../../systems/postgres/accounts/initial-resources-lock.ts';
import { cliWith } from '../../support/run-cli.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

const apiKey = `frs_${'Init0'.repeat(8)}abc`;
const flow = { name: 'writer', prompt: 'Write hello.md', network: { policy: 'none' } };

interface KeyRow {
  keyId: string;
  name: string;
  shownPrefix: string;
  state: string;
}

const migrateWith = (env: Record<string, string>) => cliWith({ ...fixture.env, ...env })('migrate');

test('creates the project, flow and key that are missing, and nothing again', async () => {
  const keyFile = fixture.file('api-key', `${apiKey}\n`);
  const env = {
    INIT_PROJECT: 'office',
    INIT_FLOW: JSON.stringify(flow),
    INIT_API_KEY_FILE: keyFile,
  };
  const first = await migrateWith(env);
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out.split('\n')).toEqual([
    'The schema is up to date.',
    'Created the project office.',
    expect.stringMatching(/^Created the flow writer: [0-9a-f-]{36}\.$/),
    expect.stringMatching(/^Created the key [0-9a-f-]{36}\.$/),
    '',
  ]);
  expect(first.out).not.toContain(apiKey);
  expect(await flowrun.json('flow', 'list', '--project', 'office')).toMatchObject([flow]);
  const keys = await flowrun.json<KeyRow[]>('key', 'list', '--project', 'office');
  expect(keys).toMatchObject([
    {
      name: 'INIT_API_KEY',
      shownPrefix: apiKey.slice(0, keys[0]?.shownPrefix.length),
      state: 'active',
    },
  ]);

  expect(await migrateWith(env)).toMatchObject({ code: 0, out: 'The schema is up to date.\n' });
});

test('changes nothing that exists, and a revoked key stays revoked', async () => {
  const key = `frs_${'Other'.repeat(8)}abc`;
  const env = { INIT_PROJECT: 'garden', INIT_FLOW: JSON.stringify(flow), INIT_API_KEY: key };
  await migrateWith(env);
  await flowrun('project', 'set', 'garden', '--max-concurrent-runs', '3');
  const [made] = await flowrun.json<KeyRow[]>('key', 'list', '--project', 'garden');
  await flowrun('key', 'revoke', made?.keyId ?? '');

  const changed = JSON.stringify({ ...flow, prompt: 'Another' });
  expect(await migrateWith({ ...env, INIT_FLOW: changed })).toMatchObject({
    out: 'The schema is up to date.\n',
  });
  expect(await flowrun.json('project', 'list')).toContainEqual(
    expect.objectContaining({ projectId: 'garden', maxConcurrentRuns: 3 }),
  );
  expect(await flowrun.json('flow', 'list', '--project', 'garden')).toMatchObject([flow]);
  expect(await flowrun.json('key', 'list', '--project', 'garden')).toMatchObject([
    { state: 'revoked' },
  ]);
});

test('two processes at once create each thing once', async () => {
  const key = `frs_${'Twice'.repeat(8)}abc`;
  const env = { INIT_PROJECT: 'twins', INIT_FLOW: JSON.stringify(flow), INIT_API_KEY: key };
  const { pool } = fixture.database;
  const other = await pool.connect();
  await lockInitialResources(other);
  const both = Promise.all([migrateWith(env), migrateWith(env)]);
  const waiting = `select from pg_stat_activity where datname = current_database()
                   and application_name = 'flowrun-cli' and wait_event = 'advisory'`;
  await vi.waitFor(async () => expect((await pool.query(waiting)).rowCount).toBe(2), 30_000);
  expect(await flowrun.json('project', 'list')).not.toContainEqual(
    expect.objectContaining({ projectId: 'twins' }),
  );
  other.release(true); // closes the connection, which unlocks

  const ended = await both;
  expect(ended).toMatchObject([{ code: 0 }, { code: 0 }]);
  const created = ended
    .flatMap(({ out }) => out.split('\n'))
    .filter((line) => line.startsWith('Created'));
  expect(created).toHaveLength(3);
  expect(await flowrun.json('flow', 'list', '--project', 'twins')).toHaveLength(1);
});

test('reports that another process is still creating them', async () => {
  const { pool } = fixture.database;
  const [other, waiting] = [await pool.connect(), await pool.connect()];
  await lockInitialResources(other);
  await expect(lockInitialResources(waiting, 10)).rejects.toThrow(
    'Another process is still creating the resources of INIT_PROJECT',
  );
  for (const client of [waiting, other]) client.release(true);
});

test.for([
  [{ INIT_PROJECT: 'no spaces' }, 'INIT_PROJECT is wrong: expected 1 to 64 letters'],
  [{ INIT_FLOW: JSON.stringify(flow) }, 'INIT_PROJECT is not set: INIT_FLOW and INIT_API_KEY need'],
  [
    { INIT_PROJECT: 'a', INIT_FLOW: '{' },
    'INIT_FLOW is wrong: expected a JSON object with a "name"',
  ],
  [
    { INIT_PROJECT: 'a', INIT_FLOW: '{"prompt": "x"}' },
    'INIT_FLOW is wrong: expected a JSON object',
  ],
  [{ INIT_PROJECT: 'a', INIT_FLOW: '{"name": "x", "colour": 1}' }, 'colour'],
  [
    { INIT_PROJECT: 'a', INIT_API_KEY: `frs_${'a'.repeat(42)}` },
    'INIT_API_KEY is wrong: expected "frs_"',
  ],
  [
    { INIT_PROJECT: 'a', INIT_API_KEY: `frs_${'a'.repeat(44)}` },
    'INIT_API_KEY is wrong: expected "frs_"',
  ],
] as const)('creates nothing from invalid settings: %o', async ([env, message]) => {
  const { code, err } = await migrateWith({ ...env });
  expect(err).toContain(message);
  expect(code).toBeGreaterThan(0);
  expect(await flowrun.json('project', 'list')).not.toContainEqual(
    expect.objectContaining({ projectId: 'a' }),
  );
});

test('refuses a key that belongs to another project', async () => {
  const key = `frs_${'Known'.repeat(8)}abc`;
  await migrateWith({ INIT_PROJECT: 'owner', INIT_API_KEY: key });
  const { code, err } = await migrateWith({ INIT_PROJECT: 'thief', INIT_API_KEY: key });
  expect({ code, err }).toEqual({
    code: 1,
    err: 'INIT_API_KEY is a key of the project owner, not of thief: set another key.\n',
  });
  expect(await flowrun.json('project', 'list')).not.toContainEqual(
    expect.objectContaining({ projectId: 'thief' }),
  );
});
