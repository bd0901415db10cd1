import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRestoreConfig } from '../../../config/backup-config.ts';
import { readApiConfig, readWorkerConfig } from '../../../config/config.ts';
import { ConfigError } from '../../../config/config-error.ts';
import { readDoctorConfig } from '../../../config/doctor-config.ts';
import { makeAuthority, type TestAuthority } from '../../support/authority.ts';

const env = {
  DATABASE_URL: 'postgres://user:canary@db.internal/flowrun',
  REDIS_URL: 'rediss://:canary@redis.internal:6380/0',
  TEMPORAL_ADDRESS: 'temporal.internal:7233',
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  DATA_DIR: '/var/lib/flowrun',
  ANTHROPIC_API_KEY: 'sk-canary',
  SANDBOX_IMAGE: 'flowrun-sandbox:1',
};

let authority: TestAuthority;
let folder: string;
const files = { ca: '', cert: '', key: '', otherKey: '', sealedKey: '', text: '' };
beforeAll(() => {
  authority = makeAuthority('127.0.0.1');
  folder = mkdtempSync(join(tmpdir(), 'tls-config-'));
  const sealed = ['ec', '-aes256', '-passout', 'pass:canary'];
  const texts = {
    ...{ ca: authority.ca, cert: authority.cert, key: authority.key },
    otherKey: authority.issue({ names: ['DNS:other'] }).key,
    sealedKey: String(execFileSync('openssl', sealed, { input: authority.key, stdio: 'pipe' })),
    text: 'canary\n',
  };
  for (const [name, text] of Object.entries(texts)) {
    files[name as keyof typeof files] = join(folder, name);
    writeFileSync(join(folder, name), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const readers = [readApiConfig, readWorkerConfig, readDoctorConfig] as const;

/** The error message, which must be the same for every process, without values or file contents. */
function failureOf(change: Record<string, string>): string {
  const messages = readers.map((read) => {
    try {
      read({ ...env, ...change });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('the configuration was accepted');
  });
  expect(new Set(messages).size).toBe(1);
  expect(messages[0]).not.toMatch(/canary|BEGIN/);
  return messages[0] ?? '';
}

describe('Redis', () => {
  const tls = () => ({
    REDIS_TLS_CA_FILE: files.ca,
    REDIS_TLS_CERT_FILE: files.cert,
    REDIS_TLS_KEY_FILE: files.key,
  });

  test('uses a custom authority and a client certificate', () => {
    const { ca, cert, key } = authority;
    const redis = {
      url: env.REDIS_URL,
      tls: { ca: ca.trim(), cert: cert.trim(), key: key.trim() },
    };
    for (const read of [...readers, readRestoreConfig])
      expect(read({ ...env, ...tls() })).toMatchObject({ redis });
    const direct = { REDIS_TLS_CA: ca, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: key };
    expect(readApiConfig({ ...env, ...direct }).redis.tls).toEqual({ ca, cert, key });
    expect(readApiConfig(env).redis).toEqual({ url: env.REDIS_URL, tls: {} });
    expect(readApiConfig({ ...env, REDIS_TLS_CA: ca + ca }).redis.tls).toEqual({ ca: ca + ca });
  });

  test('a file that is not PEM is named', () => {
    expect(failureOf({ REDIS_TLS_CA_FILE: files.text })).toBe(
      'REDIS_TLS_CA is wrong: expected certificates in PEM',
    );
    expect(failureOf({ ...tls(), REDIS_TLS_CERT_FILE: files.key })).toBe(
      'REDIS_TLS_CERT is wrong: expected certificates in PEM',
    );
    for (const file of [files.cert, files.sealedKey])
      expect(failureOf({ ...tls(), REDIS_TLS_KEY_FILE: file })).toBe(
        'REDIS_TLS_KEY is wrong: expected a private key in PEM, without a passphrase',
      );
    const broken = authority.ca.replace(/\n[^-]{20}/, '\n');
    expect(failureOf({ REDIS_TLS_CA: authority.ca + broken })).toContain('REDIS_TLS_CA is wrong');
    expect(failureOf({ REDIS_TLS_CA_FILE: '/nowhere/ca.crt' })).toBe(
      'REDIS_TLS_CA_FILE names a file that cannot be read: /nowhere/ca.crt',
    );
  });

  test('a certificate and its key must both be set, and must match', () => {
    const { REDIS_TLS_CERT_FILE, REDIS_TLS_KEY_FILE } = tls();
    expect(failureOf({ REDIS_TLS_CERT_FILE })).toBe(
      'REDIS_TLS_KEY is not set: expected the key of REDIS_TLS_CERT',
    );
    expect(failureOf({ REDIS_TLS_KEY_FILE })).toBe(
      'REDIS_TLS_CERT is not set: expected the certificate of REDIS_TLS_KEY',
    );
    expect(failureOf({ ...tls(), REDIS_TLS_KEY_FILE: files.otherKey })).toBe(
      'REDIS_TLS_KEY is wrong: expected the key of REDIS_TLS_CERT',
    );
  });

  test('TLS settings are rejected with an unencrypted URL', () => {
    const REDIS_URL = 'redis://:canary@redis.internal/0';
    expect(failureOf({ ...tls(), REDIS_URL })).toBe(
      'REDIS_URL is wrong: expected a rediss:// address, since REDIS_TLS_CA is set',
    );
  });
});

describe('Postgres', () => {
  const withFiles = (named: Record<string, string>): { DATABASE_URL: string } => {
    const query = new URLSearchParams({ sslmode: 'verify-full', ...named });
    return { DATABASE_URL: `${env.DATABASE_URL}?${query.toString()}` };
  };

  test('keeps the files in its URL, which is passed on unchanged', () => {
    const { ca: sslrootcert, cert: sslcert, key: sslkey } = files;
    for (const named of [{}, { sslrootcert }, { sslrootcert, sslcert, sslkey }]) {
      const change = withFiles(named);
      for (const read of readers)
        expect(read({ ...env, ...change }).databaseUrl).toBe(change.DATABASE_URL);
    }
  });

  test('a missing or invalid file is named', () => {
    const { cert: sslcert, key: sslkey } = files;
    const expected = (named: Record<string, string>) =>
      failureOf(withFiles(named)).replace('DATABASE_URL is wrong: expected ', '');
    expect(expected({ sslrootcert: '/nowhere/ca.crt' })).toBe(
      'its sslrootcert to name a file that can be read: /nowhere/ca.crt',
    );
    expect(expected({ sslrootcert: files.text })).toBe(
      'its sslrootcert to name certificates in PEM',
    );
    expect(expected({ sslcert: files.text, sslkey })).toBe(
      'its sslcert to name certificates in PEM',
    );
    expect(expected({ sslcert, sslkey: files.sealedKey })).toBe(
      'its sslkey to name a private key in PEM, without a passphrase',
    );
    expect(expected({ sslcert })).toBe('both of sslcert and sslkey, or none');
    expect(expected({ sslkey })).toBe('both of sslcert and sslkey, or none');
    expect(expected({ sslcert, sslkey: files.otherKey })).toBe(
      'its sslkey to name the key of its sslcert',
    );
  });
});

describe('Temporal', () => {
  const tls = () => ({
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: files.ca,
    TEMPORAL_TLS_CLIENT_CERT_PATH: files.cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: files.key,
    TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
  });

  test('accepts its own variables, as paths and as values', () => {
    const { ca, cert, key } = authority;
    const bytes = (text: string) => new Uint8Array(Buffer.from(text));
    const expected = {
      serverNameOverride: 'temporal.internal',
      serverRootCACertificate: bytes(ca),
      clientCertPair: { crt: bytes(cert), key: bytes(key) },
    };
    const data = {
      TEMPORAL_TLS_SERVER_CA_CERT_DATA: ca,
      TEMPORAL_TLS_CLIENT_CERT_DATA: cert,
      TEMPORAL_TLS_CLIENT_KEY_DATA: key,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    };
    for (const change of [tls(), data])
      for (const read of readers)
        expect(read({ ...env, ...change }).temporal?.connection.tls).toEqual(expected);
  });

  test('an error names the variable as it was set', () => {
    const { TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH } = tls();
    expect(failureOf({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.crt' })).toBe(
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH names a file that cannot be read: /nowhere/ca.crt',
    );
    expect(failureOf({ TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'canary' })).toBe(
      'TEMPORAL_TLS_SERVER_CA_CERT_DATA is wrong: expected certificates in PEM',
    );
    expect(failureOf({ TEMPORAL_TLS_CLIENT_CERT_PATH })).toBe(
      'TEMPORAL_TLS_CLIENT_KEY_PATH is not set: expected the key of TEMPORAL_TLS_CLIENT_CERT_PATH',
    );
    expect(failureOf({ TEMPORAL_TLS_CLIENT_KEY_PATH })).toContain(
      'TEMPORAL_TLS_CLIENT_CERT_PATH is not set',
    );
    expect(failureOf({ ...tls(), TEMPORAL_TLS_CLIENT_KEY_PATH: files.cert })).toContain(
      'TEMPORAL_TLS_CLIENT_KEY_PATH is wrong: expected a private key in PEM',
    );
    expect(failureOf({ ...tls(), TEMPORAL_TLS_CLIENT_KEY_PATH: files.otherKey })).toBe(
      'TEMPORAL_TLS_CLIENT_KEY_PATH is wrong: expected the key of TEMPORAL_TLS_CLIENT_CERT_PATH',
    );
    expect(readApiConfig({ ...env, TEMPORAL_TLS: 'false' }).temporal.connection.tls).toBe(false);
  });
});
