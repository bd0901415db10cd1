import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readApiConfig } from '../../../config/config.ts';
import { readDoctorConfig } from '../../../config/doctor-config.ts';
import { serviceEnv, workerMetrics, writeStackFile } from '../../../dev/stack/service-env.ts';
import { makeAuthority } from '../../support/authority.ts';

function stackEnv(model: { baseUrl: string | undefined; offline: boolean }) {
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
  const stack = { instance: 'demo', apiPort: 1, dependencies, model: { keyFile, ...model } };
  return { root, folders, env: serviceEnv(folders, stack) };
}

test('the command line gets the TLS settings of external stores', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const { ca } = makeAuthority('127.0.0.1');
  vi.stubEnv('REDIS_TLS_CA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_CA_CERT_DATA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_NAME', 'temporal.test');
  const { root, folders, env } = stackEnv({ baseUrl: undefined, offline: false });
  writeStackFile(folders, env);
  expect(readDoctorConfig({ FLOWRUN_DATA: root })).toMatchObject({
    redis: { tls: { ca } },
    temporal: { connection: { tls: { serverNameOverride: 'temporal.test' } } },
  });
});

test('the API gets the address of the offline model', () => {
  const offline = { baseUrl: 'http://127.0.0.1:8090', offline: true };
  expect(readApiConfig(stackEnv(offline).env).offlineModel).toBe(true);
  expect(readApiConfig(stackEnv({ ...offline, offline: false }).env).offlineModel).toBe(false);
});

test('the worker serves metrics on the next port, and only if metrics are enabled', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('METRICS_PORT', undefined);
  expect(workerMetrics()).toEqual({});
  vi.stubEnv('METRICS_PORT', '9464');
  expect(workerMetrics()).toEqual({ METRICS_PORT: '9465' });
});
