// Breaks each dependency of the service for real, and reads the advice.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../dev/stack/ports.ts';
import { createProjectStore } from '../../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../../systems/postgres/admission/seal.ts';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { createEmptyDatabase } from '../../support/database.ts';
import { doctorWith, openDoctorFixture } from '../../support/doctor-fixture.ts';
import { startFakeEngine } from '../../support/fake-engine.ts';
import { startRedis } from '../../support/redis-process.ts';
import { cliWith } from '../../support/run-cli.ts';
import { setDatabaseClock } from '../systems/postgres/clock.ts';

/** Each dependency has its own timeout. */
const patiently = { timeout: 180_000 };
const encryptionKey = randomBytes(32).toString('base64');
let fixture: ApiFixture;
let env: Record<string, string>;

beforeAll(async () => {
  ({ fixture, env } = await openDoctorFixture(encryptionKey));
});
afterAll(() => fixture?.close());

test('reports working dependencies as ok, with their versions', async () => {
  const diagnosis = await doctorWith(env)();
  const version = expect.stringMatching(/^\d+\.\d+/);
  for (const name of ['postgres', 'redis', 'temporal', 'docker'])
    expect(diagnosis.of(name)).toMatchObject({
      state: 'ok',
      facts: expect.arrayContaining([version]),
    });
  for (const name of ['api', 'schema', 'clock', 'image', 'disk', 'runs', 'retention'])
    expect(diagnosis.of(name)).toMatchObject({ state: 'ok', problems: [] });
  expect(diagnosis.of('runtime').facts).toEqual(['runc (SANDBOX_RUNTIME=runc)']);
  // This instance has no worker.
  expect(diagnosis.about('no_worker')).toContain('Start a worker');
  expect(diagnosis.about('no_host')).toContain('Start a worker');
});

test('names each unreachable dependency with advice and without passwords', patiently, async () => {
  const broken = {
    ...env,
    DATABASE_URL: 'postgres://user:canary@127.0.0.1:1/flowrun',
    REDIS_URL: 'redis://:canary@127.0.0.1:1/0',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    DOCKER_HOST: 'unix:///nowhere/docker.sock',
    PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
    DATA_DIR: '/nowhere/data',
  };
  const diagnosis = await doctorWith(broken)();
  expect(diagnosis.about('postgres_unreachable')).toMatch(
    /ECONNREFUSED.*Start Postgres.*DATABASE_URL/,
  );
  expect(diagnosis.about('redis_unreachable')).toMatch(/ECONNREFUSED.*Start Redis.*REDIS_URL/);
  expect(diagnosis.about('temporal_unreachable')).toMatch(/Start Temporal.*TEMPORAL_ADDRESS/);
  expect(diagnosis.about('engine_unreachable')).toMatch(/nowhere.*Docker Engine.*DOCKER_HOST/);
  expect(diagnosis.about('api_unreachable')).toMatch(/ECONNREFUSED.*Start the API.*PUBLIC_URL/);
  expect(diagnosis.about('data_dir_missing')).toMatch(/ENOENT.*DATA_DIR/);
  for (const name of ['schema', 'hosts', 'runs', 'image', 'runtime', 'workflows', 'containers'])
    expect(diagnosis.of(name).state).toBe('skipped');
  expect(JSON.stringify(diagnosis.outcomes)).not.toContain('canary');

  const plain = await cliWith(broken)('doctor');
  expect(plain.code).toBe(1);
  expect(plain.out).toMatch(
    /^FAILED +redis +Redis does not respond: .*\. \[redis_unreachable\]\n +→ Start Redis/m,
  );
  expect(plain.err).toContain('Checks failed: api, postgres, redis');
  expect(plain.out + plain.err).not.toContain('canary');
});

test('reports a stopped Redis, and recognizes that it is back', async () => {
  const port = await freePort();
  const doctor = doctorWith({ ...env, REDIS_URL: `redis://127.0.0.1:${port}/0` });
  const first = await startRedis(port);
  expect((await doctor()).of('redis').state).toBe('ok');
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect((await doctor()).about('redis_unreachable')).toContain('No data is lost meanwhile');
  const second = await startRedis(port);
  expect((await doctor()).of('redis').state).toBe('ok');
  second.kill('SIGKILL');
  await once(second, 'exit');
});

test('reports a missing namespace with the command that creates it', async () => {
  const diagnosis = await doctorWith({ ...env, TEMPORAL_NAMESPACE: 'nobodys' })();
  expect(diagnosis.about('namespace_missing')).toContain('namespace create -n nobodys');
  expect(diagnosis.of('workflows').state).toBe('skipped');
});

test('reports an invalid engine address and a missing image', async () => {
  const byAddress = await doctorWith({ ...env, DOCKER_HOST: 'tcp://127.0.0.1:1' })();
  expect(byAddress.about('engine_unreachable')).toContain('unix:///path');
  const without = await doctorWith({ ...env, SANDBOX_IMAGE: 'nobody/has-it:1' })();
  expect(without.about('image_missing')).toMatch(/nobody\/has-it:1.*Build or pull the image/);
});

test('reports a missing and a misconfigured gVisor, and recognizes a working one', async () => {
  const listed: Record<string, object> = { runc: {} };
  const fake = await startFakeEngine(() => ({ Version: '28.1.0', Runtimes: listed }));
  const { SANDBOX_IMAGE: _toTryWith, ...rest } = env;
  const doctor = (SANDBOX_RUNTIME: string) =>
    doctorWith({ ...rest, DOCKER_HOST: fake.dockerHost, SANDBOX_RUNTIME })();
  expect((await doctor('runsc')).about('runtime_missing')).toMatch(
    /does not have the runtime runsc, only runc\. .*npm run setup:gvisor.*SANDBOX_RUNTIME=runc/,
  );
  expect((await doctor('auto')).of('runtime').facts).toEqual(['runc (SANDBOX_RUNTIME=auto)']);
  listed['runsc'] = { path: 'runsc' };
  expect((await doctor('auto')).about('runtime_unusable')).toMatch(
    /lists the runtime runsc without --host-uds=open, .*Add .*runtimeArgs.*SANDBOX_RUNTIME=runc/,
  );
  expect((await doctor('runc')).of('runtime').facts).toEqual(['runc (SANDBOX_RUNTIME=runc)']);
  listed['runsc'] = { path: 'runsc', runtimeArgs: ['--host-uds=open'] };
  expect((await doctor('auto')).of('runtime').facts).toEqual(['runsc (SANDBOX_RUNTIME=auto)']);
  fake.close();
});

test('reports a full disk', async () => {
  const diagnosis = await doctorWith({ ...env, DATA_DIR: '/proc' })();
  expect(diagnosis.about('data_dir_disk_short')).toMatch(
    /\/proc has only 0\.0 MiB free.*RUN_RETENTION_DAYS/,
  );
});

test('reports a missing schema and a missing function', async () => {
  const empty = await createEmptyDatabase();
  const doctor = doctorWith({ ...env, DATABASE_URL: empty.url });
  expect((await doctor()).about('schema_incomplete')).toMatch(/no schema.*flowrun migrate/);
  await cliWith({ ...env, DATABASE_URL: empty.url })('migrate');
  expect((await doctor()).of('schema').state).toBe('ok');
  await empty.pool.query(`delete from schema_functions where name = 'admit_run'`);
  const lacking = await doctor();
  expect(lacking.about('schema_incomplete')).toMatch(/lacks function admit_run.*flowrun migrate/);
  expect(lacking.of('retention').state).toBe('skipped');
  await empty.drop();
});

test('reports an encryption key that cannot decrypt the secrets', async () => {
  const sealer = createSealer(Buffer.from(encryptionKey, 'base64'));
  const projects = createProjectStore(fixture.database.pool, sealer);
  await projects.create({ projectId: 'sealed', name: 'Sealed' });
  await projects.ensureWebhookSecrets('sealed');
  expect((await doctorWith(env)()).of('encryption key').state).toBe('ok');
  const other = { ...env, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
  expect((await doctorWith(other)()).about('wrong_encryption_key')).toContain(
    'No other key can decrypt it',
  );
});

test('reports an API that responds but is not ready', async () => {
  const half = await fixture.start({
    checks: { temporal: () => Promise.reject(new Error('away')) },
  });
  const diagnosis = await doctorWith({ ...env, PUBLIC_URL: half.url })();
  expect(diagnosis.about('api_not_ready')).toMatch(/not ready: temporal\..*different settings/);
});

test('skips the checks of dependencies that are not configured', async () => {
  const few = { DATABASE_URL: fixture.database.url, ENCRYPTION_KEY: encryptionKey };
  const diagnosis = await doctorWith(few)();
  expect(diagnosis.of('redis')).toMatchObject({
    state: 'skipped',
    facts: ['REDIS_URL is not set here'],
  });
  for (const name of ['temporal', 'docker', 'image', 'runtime', 'disk', 'containers'])
    expect(diagnosis.of(name).state).toBe('skipped');
  const wrong = await cliWith({ ...few, REDIS_URL: 'http://x' })('doctor');
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('REDIS_URL is wrong') });
});

test('reports a wrong clock', async () => {
  const anHourAhead = new Date(Date.now() + 3_600_000).toISOString();
  await setDatabaseClock(fixture.database.pool, anHourAhead);
  const diagnosis = await doctorWith(env)();
  expect(diagnosis.about('clock_wrong')).toMatch(/3[56]\d\d s behind that of Postgres.*NTP/);
});
