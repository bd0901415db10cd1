import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSecretName, redact, redactText } from '../../../core/runs/redact.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const secrets = [
  'authorization',
  'Authorization',
  'api_key',
  'apiKey',
  'X-Api-Key',
  'ANTHROPIC_API_KEY',
  'prompt',
  'appendSystemPrompt',
  'env',
  'headers',
  'token',
  'access_token',
  'webhookSecret',
  'encryptionKey',
  'password',
  'cookie',
  'mcpServers',
  'idempotencyKey',
  'DATABASE_URL',
];
const open = [
  'runId',
  'projectId',
  'keyId',
  'keyName',
  'status',
  'msg',
  'environments',
  'tokens',
  'promptBytes',
];

describe('a name', () => {
  test.each(secrets)('%s is secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each(open)('%s is not', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('a value', () => {
  test('quoted by Postgres is removed; other details stay', () => {
    const detail = 'Failing row contains (1, canary)';
    const error = { severity: 'ERROR', routine: 'ExecConstraints', code: '23514', detail };
    expect(redact({ err: error })).toEqual({ err: { ...error, detail: '[redacted]' } });
    expect(redact({ cause: 'stalled', detail })).toEqual({ cause: 'stalled', detail });
  });

  test('under a secret name is removed at any depth', () => {
    const name = fc.constantFrom(...secrets);
    const wrap = (value: unknown, keys: string[]) =>
      keys.reduce<unknown>((inner, key) => (key === '' ? [inner] : { [key]: inner }), value);
    const path = fc.array(fc.constantFrom('a', 'err', 'request', ''), { maxLength: 12 });
    fc.assert(
      fc.property(name, path, fc.boolean(), (key, keys, listed) => {
        const hidden = { [key]: listed ? ['canary'] : 'canary' };
        expect(JSON.stringify(redact(wrap(hidden, keys)))).not.toContain('canary');
      }),
    );
  });

  test('that is a number or null stays', () => {
    expect(redact({ leaseToken: 7, token: null, secret: true })).toEqual({
      leaseToken: 7,
      token: null,
      secret: true,
    });
  });

  test('of a callback URL keeps the origin only', () => {
    const callbackUrl = 'https://hooks.example:8443/services/canary?x=canary#canary';
    expect(redact({ callbackUrl })).toEqual({
      callbackUrl: 'https://hooks.example:8443/[redacted]',
    });
    expect(JSON.stringify(redact({ callbackUrl: 'https://u:canary@h/' }))).not.toContain('canary');
  });
});

describe('a text', () => {
  const key = `frs_${'a1B2c3D4e5F6'.repeat(4).slice(0, 43)}`;
  test.each([
    [`key ${key} was refused`, 'key frs_[redacted] was refused'],
    [`token ${key.replace('frs', 'fro')} expired`, 'token fro_[redacted] expired'],
    [`token ${key.replace('frs', 'frt')} expired`, 'token frt_[redacted] expired'],
    ['x-api-key: sk-ant-api03-abc_def-ghi', 'x-api-key: sk-[redacted]'],
    ['Authorization: Bearer abc.def.ghi', 'Authorization: Bearer [redacted]'],
    [
      'connect postgres://user:pass@host:5432/db failed',
      'connect postgres://[redacted]@host:5432/db failed',
    ],
    [
      'GET /api/v1/runs/1/stream?api_key=abc&x=1',
      'GET /api/v1/runs/1/stream?api_key=[redacted]&x=1',
    ],
    ['https://host/a?b=1&token=abc', 'https://host/a?b=1&token=[redacted]'],
    ['postgres://h/db?sslpassword=abc', 'postgres://h/db?sslpassword=[redacted]'],
    [
      'bad key: -----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\nof redis',
      'bad key: [redacted private key]\nof redis',
    ],
    ['cut off: -----BEGIN PRIVATE KEY-----\nabc\nde', 'cut off: [redacted private key]'],
  ])('%s', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });

  test('keeps key prefixes and mail addresses', () => {
    expect(redactText('frs_a1B2c3D4 made by ana@example.org')).toBe(
      'frs_a1B2c3D4 made by ana@example.org',
    );
  });

  test('takes linear time', () => {
    const parts = ['a://', 'bearer ', '?key=', 'sk-', 'frs_', '-----BEGIN ', 'a'];
    const work = () => parts.forEach((part) => void redactText(part.repeat(500_000)));
    expect(cpuTimeOf(work).timeMs).toBeLessThan(5_000);
  });
});
