// Stores with various TLS misconfigurations; the tests read the advice.

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
import { openTlsStores, type TlsStores, type TlsStoresOptions } from '../../support/tls-stores.ts';

const stores = ['postgres', 'redis', 'temporal'] as const;
const names = ['IP:127.0.0.1'];
let ours: TestAuthority;
let theirs: TestAuthority;
/** Made before all tests, because making one blocks this process. */
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

async function openStores(options: TlsStoresOptions): Promise<TlsStores> {
  const found = await openTlsStores(options);
  opened.push(found);
  return found;
}

/** Each case has its own service with these settings. */
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
    const problem = diagnosis.about(`${store}_${code}`);
    expect(problem || JSON.stringify(diagnosis.of(store))).toMatch(words);
  }
  expect(JSON.stringify(diagnosis.outcomes)).not.toContain('PRIVATE KEY');
}

describe.concurrent('over TLS', { timeout: 120_000 }, () => {
  test('accepts trusted certificates', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const diagnosis = await diagnose(at, trusting(made.client));
    for (const store of stores)
      expect(diagnosis.of(store)).toMatchObject({ state: 'ok', problems: [] });
  });

  test('reports a certificate of an untrusted authority', async () => {
    const diagnosis = await diagnose(await openStores({ shows: theirs }), trusting());
    expectOfEach(
      diagnosis,
      'untrusted',
      /not signed by a trusted authority: (self-signed|unable to)/,
    );
    expect(diagnosis.about('postgres_untrusted')).toContain('Set sslrootcert in DATABASE_URL');
    expect(diagnosis.about('redis_untrusted')).toContain('Set REDIS_TLS_CA to');
    expect(diagnosis.about('temporal_untrusted')).toContain('TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  });

  test('reports an expired server certificate', async () => {
    const diagnosis = await diagnose(await openStores({ shows: made.expired }), trusting());
    expectOfEach(
      diagnosis,
      'certificate_expired',
      /has expired\. Renew the certificate of .*clock/,
    );
  });

  test('reports a certificate for another address', async () => {
    const diagnosis = await diagnose(await openStores({ shows: made.elsewhere }), trusting());
    expectOfEach(
      diagnosis,
      'name_mismatch',
      /127\.0\.0\.1 .*a name in .* that the certificate contains/,
    );
    expect(diagnosis.about('temporal_name_mismatch')).toContain('TEMPORAL_TLS_SERVER_NAME');
  });

  test('reports a missing client certificate', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const diagnosis = await diagnose(at, trusting());
    expectOfEach(diagnosis, 'rejects_certificate', /requires a client certificate.* Set .* and /);
    expect(diagnosis.about('redis_rejects_certificate')).toContain(
      'Set REDIS_TLS_CERT and REDIS_TLS_KEY.',
    );
  });

  test('reports a rejected client certificate: untrusted or expired', async () => {
    const at = await openStores({ shows: ours, demands: ours.ca });
    const [strange, expired] = await Promise.all([
      diagnose(at, trusting(made.strange)),
      diagnose(at, trusting(made.expired)),
    ]);
    expectOfEach(
      strange,
      'rejects_certificate',
      /rejects the client certificate.* an authority that/,
    );
    expectOfEach(expired, 'rejects_certificate', /rejects the client certificate.*It expired on /);
  });

  test('distinguishes a store without TLS from an unreachable one', async () => {
    const { postgresUrl: url, redisUrl, temporalAddress } = stackEnv;
    const at = {
      postgresUrl: (query: string) => `${url}${query}`,
      redisUrl: redisUrl.replace(/^redis:/, 'rediss:'),
      temporalAddress,
      close: () => undefined,
    };
    const diagnosis = await diagnose(at, trusting());
    expectOfEach(diagnosis, 'without_tls', /does not accept TLS on that port.* Enable TLS there/);
  });

  test('distinguishes a store that requires TLS from an unreachable one', async () => {
    const at = await openStores({ shows: ours });
    const inTheClear = { ...at, redisUrl: at.redisUrl.replace(/^rediss:/, 'redis:') };
    const diagnosis = await diagnose(inTheClear, { query: '?sslmode=disable', env: {} });
    expect(diagnosis.about('redis_requires_tls')).toMatch(/Set rediss:\/\/ in REDIS_URL/);
    expect(diagnosis.about('temporal_requires_tls')).toMatch(/Set TEMPORAL_TLS=true/);
  });
});

test('names the TLS settings of Postgres in the errors of other commands', async () => {
  const at = await openStores({ shows: theirs });
  const pool = createPool(at.postgresUrl(trusting().query), { applicationName: 'test', max: 1 });
  const failure: unknown = await pool.query('select 1').catch((error: unknown) => error);
  await pool.end();
  expect(formatError(failure).message).toMatch(
    /self-signed certificate.*\nCheck sslrootcert, sslcert/,
  );
});
