// The stores behind TLS that is wrong in one way or the other, and the advice is read.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatError } from '../../../cli/format-error.ts';
import { createPool } from '../../../systems/postgres/client/pool.ts';
import { type Certified, makeAuthority, type TestAuthority } from '../../support/authority.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type Diagnosis, doctorWith } from '../../support/doctor-fixture.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { type TlsSettings, tlsSettings } from '../../support/tls-settings.ts';
import { openTlsStores, type TlsStores, type TlsStoresWish } from '../../support/tls-stores.ts';

const stores = ['postgres', 'redis', 'temporal'] as const;
const names = ['IP:127.0.0.1'];
let ours: TestAuthority;
let theirs: TestAuthority;
/** Made before all tests: making one holds up whatever else goes on in this process. */
let made: Record<'client' | 'expired' | 'elsewhere' | 'strange', Certified>;
let folder: string;
let database: TestDatabase;
const opened: TlsStores[] = [];

beforeAll(async () => {
  ours = makeAuthority('127.0.0.1');
  theirs = makeAuthority('127.0.0.1');
  made = {
    client: ours.issue({ names }),
    expired: ours.issue({ names, expired: true }),
    elsewhere: ours.issue({ names: ['DNS:else.test'] }),
    strange: theirs.issue({ names }),
  };
  folder = mkdtempSync(join(tmpdir(), 'doctor-tls-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const each of opened) each.close();
  rmSync(folder, { recursive: true, force: true });
  await database?.drop();
});

async function openStores(wish: TlsStoresWish): Promise<TlsStores> {
  const found = await openTlsStores(wish);
  opened.push(found);
  return found;
}

/** Each case has a service of its own that was told these settings. */
async function diagnose(at: TlsStores, { query, env }: TlsSettings): Promise<Diagnosis> {
  const url = new URL(at.postgresUrl(query));
  url.pathname = new URL(database.url).pathname;
  return doctorWith({
    ...env,
    DATABASE_URL: url.href,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    REDIS_URL: at.redisUrl,
    TEMPORAL_ADDRESS: at.temporalAddress,
    PUBLIC_URL: 'http://127.0.0.1:1',
  })();
}

const trusting = (shown?: Certified): TlsSettings => tlsSettings(folder, ours.ca, shown);

function expectOfEach(diagnosis: Diagnosis, code: string, words: RegExp): void {
  for (const store of stores) {
    const told = diagnosis.about(`${store}_${code}`);
    expect(told || JSON.stringify(diagnosis.of(store))).toMatch(words);
  }
  expect(JSON.stringify(diagnosis.outcomes)).not.toContain('PRIVATE KEY');
}

describe.concurrent('over TLS', { timeout: 120_000 }, () => {
  test('what is trusted and let in stands', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const diagnosis = await diagnose(at, trusting(made.client));
    for (const store of stores)
      expect(diagnosis.of(store)).toMatchObject({ state: 'ok', troubles: [] });
  });

  test('a certificate of another authority is not trusted', async () => {
    const diagnosis = await diagnose(await openStores({ shows: theirs }), trusting());
    expectOfEach(diagnosis, 'untrusted', /not trusted here: (self-signed|unable to)/);
    expect(diagnosis.about('postgres_untrusted')).toContain('in sslrootcert in DATABASE_URL');
    expect(diagnosis.about('redis_untrusted')).toContain('REDIS_TLS_CA.');
    expect(diagnosis.about('temporal_untrusted')).toContain('TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  });

  test('a certificate that has expired is to be renewed', async () => {
    const diagnosis = await diagnose(await openStores({ shows: made.expired }), trusting());
    expectOfEach(
      diagnosis,
      'certificate_expired',
      /has expired\. Renew the certificate of .*clock/,
    );
  });

  test('a certificate for another address', async () => {
    const diagnosis = await diagnose(await openStores({ shows: made.elsewhere }), trusting());
    expectOfEach(diagnosis, 'other_name', /127\.0\.0\.1 .*a name that the certificate is for/);
    expect(diagnosis.about('temporal_other_name')).toContain('TEMPORAL_TLS_SERVER_NAME');
  });

  test('one of ours is demanded, and none is shown', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const diagnosis = await diagnose(at, trusting());
    expectOfEach(diagnosis, 'refuses_certificate', /demands a client certificate.* Set .* and /);
    expect(diagnosis.about('redis_refuses_certificate')).toContain(
      'Set REDIS_TLS_CERT and REDIS_TLS_KEY.',
    );
  });

  test('one of ours is refused, being of another authority, or not in force', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const [strange, expired] = await Promise.all([
      diagnose(at, trusting(made.strange)),
      diagnose(at, trusting(made.expired)),
    ]);
    expectOfEach(strange, 'refuses_certificate', /refuses the certificate.* an authority that/);
    expectOfEach(expired, 'refuses_certificate', /refuses the certificate.*It has expired on /);
  });

  test('a store without TLS is no store that is away', async () => {
    const { postgresUrl: url, redisUrl, temporalAddress } = stackEnv;
    const at = {
      postgresUrl: (query: string) => `${url}${query}`,
      redisUrl: redisUrl.replace(/^redis:/, 'rediss:'),
      temporalAddress,
      close: () => undefined,
    };
    const diagnosis = await diagnose(at, trusting());
    expectOfEach(diagnosis, 'without_tls', /takes no TLS on that port.* Turn TLS on there/);
  });

  test('a store that wants TLS is told from one that is away', async () => {
    const at = await openStores({ shows: ours });
    const inTheClear = { ...at, redisUrl: at.redisUrl.replace(/^rediss:/, 'redis:') };
    const diagnosis = await diagnose(inTheClear, { query: '?sslmode=disable', env: {} });
    expect(diagnosis.about('redis_wants_tls')).toMatch(/Set rediss:\/\/ in REDIS_URL/);
    expect(diagnosis.about('temporal_wants_tls')).toMatch(/Set TEMPORAL_TLS=true/);
  });
});

test('every other command says of Postgres which settings it is about', async () => {
  const at = await openStores({ shows: theirs });
  const pool = createPool(at.postgresUrl(trusting().query), { applicationName: 'test', max: 1 });
  const failure: unknown = await pool.query('select 1').catch((error: unknown) => error);
  await pool.end();
  expect(formatError(failure).message).toMatch(
    /self-signed certificate.*\nSee sslrootcert, sslcert/,
  );
});
