import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCliConfig } from '../../../config/cli-config.ts';
import { readApiConfig, readWorkerConfig } from '../../../config/config.ts';
import { ConfigError } from '../../../config/config-error.ts';
import { retiredSettings } from '../../../config/retired-settings.ts';
import { apiVariables, serviceVariables, workerVariables } from '../../../config/variables.ts';
import { limits } from '../../../core/limits.ts';

const key = randomBytes(32);
const env = {
  DATABASE_URL: 'postgres://user:canary@127.0.0.1:5432/flowrun',
  REDIS_URL: 'redis://127.0.0.1:6379/0',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  ENCRYPTION_KEY: key.toString('base64'),
  DATA_DIR: '/var/lib/flowrun',
  ANTHROPIC_API_KEY: 'sk-canary',
  SANDBOX_IMAGE: 'flowrun-sandbox:1',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('a configuration', () => {
  test('has defaults', () => {
    const worker = readWorkerConfig(env);
    expect(worker).toMatchObject({
      instance: 'flowrun',
      publicUrl: 'http://127.0.0.1:8080',
      encryptionKey: key,
      logLevel: 'info',
      failpoint: null,
      model: { apiKey: 'sk-canary', baseUrl: 'https://api.anthropic.com' },
      dockerHost: 'unix:///var/run/docker.sock',
      sandboxRuntime: 'auto',
      webhook: { caFile: null, allowPrivate: [] },
      egress: { allowPrivate: [] },
      times: {
        runTimeoutMs: limits.run.timeoutMs,
        stallTimeoutMs: limits.run.stallTimeoutMs,
        afterResultGraceMs: limits.run.afterResultGraceMs,
        noCapacityTimeoutMs: limits.run.noCapacityTimeoutMs,
        reconcileEveryMs: limits.reconciler.everyMs,
        leaseMs: limits.log.leaseMs,
        sessionIdleMs: limits.session.idleMs,
        sessionAttendedIdleMs: limits.session.attendedIdleMs,
        sessionPauseAfterMs: limits.session.pauseAfterMs,
        sessionTurnsPerHistory: limits.session.turnsPerHistory,
      },
    });
    expect(worker.temporal).toMatchObject({ address: '127.0.0.1:7233', namespace: 'default' });
    expect(worker.capacity).toBeGreaterThanOrEqual(1);
    expect(readApiConfig(env)).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      corsOrigins: 'any',
      trustedProxies: [],
      temporalUiUrl: null,
      failpoint: null,
    });
  });

  test('uses the offline model only where it is asked for, or if nothing is set', () => {
    const { ANTHROPIC_API_KEY: _, ...keyless } = env;
    const offline = { OFFLINE_MODEL_URL: 'http://model:8090' };
    const model = {
      apiKey: 'offline',
      baseUrl: 'http://model:8090',
      onlyModel: 'offline-model',
    };
    const of = (settings: Record<string, string>) => readWorkerConfig({ ...keyless, ...settings });
    expect(of(offline)).toMatchObject({ hostModel: 'offline_by_default', model });
    expect(of({ ...offline, OFFLINE_MODEL: 'yes' })).toMatchObject({ hostModel: 'offline', model });
    for (const more of [{}, offline])
      expect(of({ ...more, OFFLINE_MODEL: 'no' })).toMatchObject({
        hostModel: 'none',
        model: null,
      });
    expect(readWorkerConfig({ ...env, ...offline })).toMatchObject({
      hostModel: 'key',
      model: { apiKey: 'sk-canary', baseUrl: 'https://api.anthropic.com' },
    });
    expect(() => of({})).toThrow('ANTHROPIC_API_KEY is not set');
    expect(() => of({ OFFLINE_MODEL: 'yes' })).toThrow('OFFLINE_MODEL_URL is not set');
    expect(() => readWorkerConfig({ ...env, ...offline, OFFLINE_MODEL: 'yes' })).toThrow(
      'ANTHROPIC_API_KEY and OFFLINE_MODEL=yes are both set',
    );
  });

  test('the API says that the offline model may answer', () => {
    const offline = { OFFLINE_MODEL_URL: 'http://model:8090' };
    expect(readApiConfig({ ...env, ...offline }).offlineModel).toBe(true);
    expect(readApiConfig({ ...env, ...offline, HAS_MODEL_KEY: 'yes' }).offlineModel).toBe(false);
    expect(readApiConfig({ ...env, ...offline, OFFLINE_MODEL: 'no' }).offlineModel).toBe(false);
    expect(readApiConfig(env).offlineModel).toBe(false);
  });

  test('accepts a PUBLIC_URL with a path', () => {
    const urlOf = (PUBLIC_URL: string) => readApiConfig({ ...env, PUBLIC_URL }).publicUrl;
    expect(urlOf('https://example.com/flowrun/')).toBe('https://example.com/flowrun');
    expect(urlOf('HTTPS://Example.com:443')).toBe('https://example.com');
  });

  test('reads every kind of setting', () => {
    const settings = {
      ...env,
      INSTANCE: 'test-1',
      API_HOST: '0.0.0.0',
      API_PORT: '80',
      PUBLIC_URL: 'https://flows.example/',
      HOST_CAPACITY: '4',
      HOST_NAME: 'rack 7',
      SANDBOX_RUNTIME: 'runsc',
      TEMPORAL_NAMESPACE: 'flows',
      TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
      WEBHOOK_CA_FILE: '/etc/ca.crt',
      CORS_ORIGINS: 'https://app.example, http://localhost:5173',
      TRUSTED_PROXIES: '10.1.2.3, fd00::/8, caddy, proxy-1.internal',
      WEBHOOK_ALLOW_PRIVATE: '10.0.0.0/8, fd00::/8',
      EGRESS_ALLOW_PRIVATE: '127.0.0.1:9000,[::1]:9000,tracker.internal:443',
      LOG_LEVEL: 'debug',
      RUN_TIMEOUT_MS: '1500',
      FAILPOINT: 'chat.stored',
    };
    expect(readApiConfig(settings)).toMatchObject({
      host: '0.0.0.0',
      port: 80,
      publicUrl: 'https://flows.example',
      failpoint: 'chat.stored',
      corsOrigins: ['https://app.example', 'http://localhost:5173'],
      trustedProxies: ['10.1.2.3', 'fd00::/8', 'caddy', 'proxy-1.internal'],
      temporalUiUrl: 'http://127.0.0.1:8233',
      webhook: { allowPrivate: ['10.0.0.0/8', 'fd00::/8'] },
    });
    expect(readWorkerConfig(settings)).toMatchObject({
      instance: 'test-1',
      capacity: 4,
      hostName: 'rack 7',
      sandboxRuntime: 'runsc',
      webhook: { caFile: '/etc/ca.crt' },
      egress: { allowPrivate: ['127.0.0.1:9000', '[::1]:9000', 'tracker.internal:443'] },
      logLevel: 'debug',
      times: { runTimeoutMs: 1_500, leaseMs: limits.log.leaseMs },
      temporal: { namespace: 'flows' },
    });
  });

  test('reads the prices of models, one or several of different days', () => {
    const rates = { input: 3, output: 15.001, cacheRead: 0.3 };
    const dated = [rates, { ...rates, webSearch: 0.02, validFrom: '2027-01-01' }];
    const MODEL_PRICES = JSON.stringify({ 'my-model': rates, 'my/other': dated });
    const { modelPrices } = readApiConfig({ ...env, MODEL_PRICES });
    expect(readWorkerConfig({ ...env, MODEL_PRICES }).modelPrices).toEqual(modelPrices);
    expect(modelPrices['my-model']).toMatchObject([
      { input: 3_000, output: 15_001, cacheRead: 300, cacheWrite5m: 3_750, cacheWrite1h: 6_000 },
    ]);
    expect(modelPrices['my/other']).toMatchObject([
      { webSearch: 10_000_000 },
      { webSearch: 20_000_000, validFrom: '2027-01-01' },
    ]);
    expect(readApiConfig(env).modelPrices).toEqual({});
  });

  test('is frozen', () => {
    const worker = readWorkerConfig(env);
    expect(Object.isFrozen(worker)).toBe(true);
    expect(Object.isFrozen(worker.times)).toBe(true);
    expect(Object.isFrozen(worker.egress.allowPrivate)).toBe(true);
  });

  test('reads secrets from files', () => {
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, `${key.toString('base64')}\n`);
    const modelFile = join(folder, 'model');
    writeFileSync(modelFile, 'sk-from-file\n');
    const { ENCRYPTION_KEY: _, ANTHROPIC_API_KEY: __, ...rest } = env;
    const files = { ENCRYPTION_KEY_FILE: keyFile, ANTHROPIC_API_KEY_FILE: modelFile };
    const worker = readWorkerConfig({ ...rest, ...files });
    expect(worker.encryptionKey).toEqual(key);
    expect(worker.model.apiKey).toBe('sk-from-file');
  });
});

describe('an error names the invalid settings, but no value', () => {
  const failureOf = (change: Record<string, string | undefined>): string => {
    try {
      readWorkerConfig({ ...env, ...change });
      readApiConfig({ ...env, ...change });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('the configuration was accepted');
  };

  test('all missing settings at once', () => {
    const lines = failureOf({ DATABASE_URL: undefined, REDIS_URL: '', SANDBOX_IMAGE: undefined });
    expect(lines.split('\n')).toEqual([
      'DATABASE_URL is not set: expected a postgres:// address',
      'REDIS_URL is not set: expected a redis:// or rediss:// address',
      'SANDBOX_IMAGE is not set: expected the name of the sandbox image',
    ]);
  });

  test.each([
    ['DATABASE_URL', 'mysql://canary'],
    ['REDIS_URL', 'canary'],
    ['ENCRYPTION_KEY', 'canary'],
    ['INSTANCE', 'Canary!'],
    ['API_PORT', '70000'],
    ['API_PORT', '8e3'],
    ['PUBLIC_URL', 'canary.example'],
    ['PUBLIC_URL', 'https://flows.example/?canary'],
    ['PUBLIC_URL', 'https://flows.example/#canary'],
    ['PUBLIC_URL', 'https://canary@flows.example'],
    ['CORS_ORIGINS', 'canary.example'],
    ['CORS_ORIGINS', 'https://canary.example/'],
    ['CORS_ORIGINS', '*, https://canary.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.256'],
    ['TRUSTED_PROXIES', 'https://canary'],
    ['DATA_DIR', 'canary'],
    ['DATA_DIR', `/${'c'.repeat(83)}`],
    ['ANTHROPIC_API_KEY', 'two words'],
    ['DOCKER_HOST', '/var/run/canary.sock'],
    ['SANDBOX_RUNTIME', 'canary'],
    ['HOST_CAPACITY', '-1'],
    ['WEBHOOK_CA_FILE', 'canary.crt'],
    ['WEBHOOK_ALLOW_PRIVATE', '10.0.0.0'],
    ['WEBHOOK_ALLOW_PRIVATE', '10.0.0.0/33'],
    ['EGRESS_ALLOW_PRIVATE', 'canary'],
    ['EGRESS_ALLOW_PRIVATE', 'canary:99999'],
    ['LOG_LEVEL', 'loud'],
    ['FAILPOINT', 'chat.canary'],
    ['LEASE_MS', '0'],
    ['LEASE_MS', '1.5'],
    ['MODEL_PRICES', 'canary'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15}}'],
    ['MODEL_PRICES', '{"canary":{"input":-3,"output":15,"cacheRead":0}}'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15,"cacheRead":0,"other":1}}'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15,"cacheRead":0,"validFrom":"1.1.2027"}}'],
    ['MODEL_PRICES', '{"canary":[]}'],
  ])('%s=%s', (name, value) => {
    const message = failureOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} is wrong: expected .+`));
    expect(message).not.toContain('anary');
  });

  test('a variable and its file that are both set', () => {
    expect(failureOf({ ENCRYPTION_KEY_FILE: '/dev/null' })).toBe(
      'ENCRYPTION_KEY and ENCRYPTION_KEY_FILE are both set: expected one',
    );
  });

  test('a missing file', () => {
    const message = failureOf({ ENCRYPTION_KEY: undefined, ENCRYPTION_KEY_FILE: '/nowhere/key' });
    expect(message).toContain('ENCRYPTION_KEY_FILE names a file that cannot be read: /nowhere/key');
  });

  test('a retired setting, with the one to use instead', () => {
    const named = (name: string) => failureOf({ [name]: '7' });
    expect(named('RUN_KEPT_DAYS')).toBe(
      'RUN_KEPT_DAYS is not used any more: set RUN_RETENTION_DAYS',
    );
    expect(named('MODEL_KEY_GIVEN_FILE')).toContain('HAS_MODEL_KEY');
    // The current name and an empty retired variable are accepted.
    const current = { ...env, RUN_RETENTION_DAYS: '7', RUN_KEPT_DAYS: '' };
    expect(readWorkerConfig(current).retention.runMs).toBe(7 * 24 * 3_600_000);
  });

  test('every retired setting names a current one', () => {
    const current = { ...serviceVariables, ...apiVariables, ...workerVariables };
    for (const [retired, instead] of Object.entries(retiredSettings)) {
      expect(Object.keys(current)).not.toContain(retired);
      expect(Object.keys(current)).toContain(instead);
    }
  });

  test('every setting has a description', () => {
    const settings = { ...serviceVariables, ...apiVariables, ...workerVariables };
    for (const [name, { description }] of Object.entries(settings))
      expect(description, name).toMatch(/^[A-Z`].*\.$/);
  });

  test('a missing Temporal address', () => {
    expect(failureOf({ TEMPORAL_ADDRESS: undefined })).toContain('TEMPORAL_ADDRESS is not set');
  });
});

test('limits DATA_DIR so that socket paths fit', () => {
  const longest = `/${'d'.repeat(82)}`;
  expect(readWorkerConfig({ ...env, DATA_DIR: longest }).dataDir).toBe(longest);
  expect(`${longest}/s/0123456789ab/x`).toHaveLength(limits.sandbox.socketPathMaxBytes);
});

test('the command line reads all of its settings from one source', () => {
  const cli = readCliConfig({ ...env, API_PORT: '9000' });
  expect(cli).toEqual({
    databaseUrl: env.DATABASE_URL,
    encryptionKey: key,
    modelPrices: {},
    publicUrl: 'http://127.0.0.1:9000',
  });
  expect(() => readCliConfig({ DATABASE_URL: env.DATABASE_URL, FLOWRUN_DATA: '/nowhere' })).toThrow(
    'ENCRYPTION_KEY is not set',
  );
  expect(() => readCliConfig({ FLOWRUN_DATA: '/nowhere' })).toThrow('No database is configured');
});
