import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCliConfig } from '../../../config/cli-config.ts';
import { readApiConfig, readWorkerConfig } from '../../../config/config.ts';
import { limits } from '../../../core/limits.ts';
import { encryptionKey, env } from './config-env.ts';

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
      encryptionKey,
      logLevel: 'info',
      failpoint: null,
      modelUpstream: { apiKey: 'sk-canary', baseUrl: 'https://api.anthropic.com' },
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
    expect(worker.apiUrl).toBe('http://127.0.0.1:8080');
    expect(readApiConfig(env)).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      corsOrigins: 'any',
      trustedProxies: [],
      temporalUiUrl: null,
      runDepthMax: 3,
      postgresDiskDir: null,
      postgresDiskReserveBytes: limits.postgres.diskReserveBytes,
      failpoint: null,
    });
  });

  test('uses the offline model only if OFFLINE_MODEL requests it, or if neither it nor a key is set', () => {
    const { ANTHROPIC_API_KEY: _, ...keyless } = env;
    const offline = { OFFLINE_MODEL_URL: 'http://model:8090' };
    const modelUpstream = {
      apiKey: 'offline',
      baseUrl: 'http://model:8090',
      onlyModel: 'offline-model',
    };
    const of = (settings: Record<string, string>) => readWorkerConfig({ ...keyless, ...settings });
    expect(of(offline)).toMatchObject({ hostModel: 'offline_by_default', modelUpstream });
    expect(of({ ...offline, OFFLINE_MODEL: 'yes' })).toMatchObject({
      hostModel: 'offline',
      modelUpstream,
    });
    for (const more of [{}, offline])
      expect(of({ ...more, OFFLINE_MODEL: 'no' })).toMatchObject({
        hostModel: 'none',
        modelUpstream: null,
      });
    expect(readWorkerConfig({ ...env, ...offline })).toMatchObject({
      hostModel: 'key',
      modelUpstream: { apiKey: 'sk-canary', baseUrl: 'https://api.anthropic.com' },
    });
    expect(() => of({})).toThrow('ANTHROPIC_API_KEY is not set');
    expect(() => of({ OFFLINE_MODEL: 'yes' })).toThrow('OFFLINE_MODEL_URL is not set');
    expect(() => readWorkerConfig({ ...env, ...offline, OFFLINE_MODEL: 'yes' })).toThrow(
      'ANTHROPIC_API_KEY and OFFLINE_MODEL=yes are both set',
    );
  });

  test('the API reports whether the offline model may answer', () => {
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
      API_POSTGRES_CONNECTIONS: '7',
      WORKER_POSTGRES_CONNECTIONS: '9',
      HOST_NAME: 'rack 7',
      SANDBOX_RUNTIME: 'runsc',
      TEMPORAL_NAMESPACE: 'flows',
      TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
      RUN_DEPTH_MAX: '0',
      API_URL: 'http://api:8080/base/',
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
      postgresConnections: 7,
      publicUrl: 'https://flows.example',
      failpoint: 'chat.stored',
      corsOrigins: ['https://app.example', 'http://localhost:5173'],
      trustedProxies: ['10.1.2.3', 'fd00::/8', 'caddy', 'proxy-1.internal'],
      temporalUiUrl: 'http://127.0.0.1:8233',
      runDepthMax: 0,
      webhook: { allowPrivate: ['10.0.0.0/8', 'fd00::/8'] },
    });
    expect(readWorkerConfig(settings)).toMatchObject({
      instance: 'test-1',
      capacity: 4,
      postgresConnections: 9,
      hostName: 'rack 7',
      sandboxRuntime: 'runsc',
      webhook: { caFile: '/etc/ca.crt' },
      egress: { allowPrivate: ['127.0.0.1:9000', '[::1]:9000', 'tracker.internal:443'] },
      apiUrl: 'http://api:8080/base',
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
    writeFileSync(keyFile, `${encryptionKey.toString('base64')}\n`);
    const modelFile = join(folder, 'model');
    writeFileSync(modelFile, 'sk-from-file\n');
    const { ENCRYPTION_KEY: _, ANTHROPIC_API_KEY: __, ...rest } = env;
    const files = { ENCRYPTION_KEY_FILE: keyFile, ANTHROPIC_API_KEY_FILE: modelFile };
    const worker = readWorkerConfig({ ...rest, ...files });
    expect(worker.encryptionKey).toEqual(encryptionKey);
    expect(worker.modelUpstream?.apiKey).toBe('sk-from-file');
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
    encryptionKey,
    modelPrices: {},
    publicUrl: 'http://127.0.0.1:9000',
    webhookAllowPrivate: [],
    apiUrl: 'http://127.0.0.1:9000',
    firstOperator: 'operator',
  });
  expect(() => readCliConfig({ DATABASE_URL: env.DATABASE_URL, FLOWRUN_DATA: '/nowhere' })).toThrow(
    'ENCRYPTION_KEY is not set',
  );
  expect(() => readCliConfig({ FLOWRUN_DATA: '/nowhere' })).toThrow('No database is configured');
});
