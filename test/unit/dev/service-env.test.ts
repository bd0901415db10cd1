import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readApiConfig, readWorkerConfig } from '../../../config/config.ts';
import { readDoctorConfig } from '../../../config/doctor-config.ts';
import { serviceEnv, workerMetrics, writeStackFile } from '../../../dev/stack/service-env.ts';
import { makeAuthority } from '../../support/authority.ts';

const offlineUrl = 'http://127.0.0.1:8090';

function stackEnv({ isOffline }: { isOffline: boolean }) {
  const root = mkdtempSync(join(tmpdir(), 'service-env-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const data = join(root, 'demo');
  mkdirSync(data);
  const folders = { root, data, logs: data, pids: data };
  const dependencies = {
    postgresUrl: 'postgres://user@db.test/flowrun',
    redisUrl: 'rediss://redis.test',
    temporal: { address: 'temporal.test:7233', uiUrl: null },
    dockerSocket: '/var/run/docker.sock',
    sandboxImage: 'sandbox:1',
    authority: { folder: root, ca: '', certificate: '', key: '' },
  };
  const keyFile = join(root, 'key');
  writeFileSync(keyFile, 'key');
  const settings = { instance: 'demo', apiPort: 1, dependencies };
  const env = isOffline
    ? serviceEnv(folders, { ...settings, model: { keyFile: null, baseUrl: offlineUrl } })
    : serviceEnv(folders, { ...settings, model: { keyFile, baseUrl: undefined } });
  return { root, folders, env };
}

test('the command line gets the TLS settings of external stores', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const { ca } = makeAuthority('127.0.0.1');
  vi.stubEnv('REDIS_TLS_CA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_CA_CERT_DATA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_NAME', 'temporal.test');
  const { root, folders, env } = stackEnv({ isOffline: false });
  writeStackFile(folders, env);
  expect(readDoctorConfig({ FLOWRUN_DATA: root })).toMatchObject({
    redis: { tls: { ca } },
    temporal: { connection: { tls: { serverNameOverride: 'temporal.test' } } },
  });
});

test('without a key the stack requests the offline model, and with one it does not', () => {
  const offline = stackEnv({ isOffline: true }).env;
  expect(readApiConfig(offline).offlineModel).toBe(true);
  expect(readWorkerConfig(offline)).toMatchObject({
    hostModel: 'offline',
    modelUpstream: { baseUrl: offlineUrl },
  });
  const { env } = stackEnv({ isOffline: false });
  expect(readApiConfig(env).offlineModel).toBe(false);
  expect(readWorkerConfig(env)).toMatchObject({
    hostModel: 'key',
    modelUpstream: { apiKey: 'key' },
  });
});

test('the worker serves metrics on the next port, and only if metrics are enabled', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('METRICS_PORT', undefined);
  expect(workerMetrics()).toEqual({});
  vi.stubEnv('METRICS_PORT', '9464');
  expect(workerMetrics()).toEqual({ METRICS_PORT: '9465' });
});
