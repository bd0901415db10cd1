import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readDoctorConfig } from '../../config/doctor-config.ts';
import { serviceEnv, writeStackFile } from '../../dev/service-env.ts';
import { makeAuthority } from '../support/authority.ts';

test('the command line reaches stores that were given with TLS as the service does', () => {
  const root = mkdtempSync(join(tmpdir(), 'service-env-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  const { ca } = makeAuthority('127.0.0.1');
  vi.stubEnv('REDIS_TLS_CA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_CA_CERT_DATA', ca);
  vi.stubEnv('TEMPORAL_TLS_SERVER_NAME', 'temporal.test');
  const data = join(root, 'demo');
  mkdirSync(data);
  const folders = { root, data, logs: data, pids: data };
  const outside = {
    postgresUrl: 'postgres://user@db.test/flowrun',
    redisUrl: 'rediss://redis.test',
    temporal: { address: 'temporal.test:7233', uiUrl: null },
    dockerSocket: '/var/run/docker.sock',
    sandboxImage: 'sandbox:1',
    authority: { folder: root, ca: '', certificate: '', key: '' },
  };
  const model = { keyFile: join(root, 'key'), baseUrl: undefined, offline: false };
  writeStackFile(folders, serviceEnv(folders, { instance: 'demo', apiPort: 1, outside, model }));
  expect(readDoctorConfig({ FLOWRUN_DATA: root })).toMatchObject({
    redis: { tls: { ca } },
    temporal: { connection: { tls: { serverNameOverride: 'temporal.test' } } },
  });
});
