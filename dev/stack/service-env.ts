// The settings of the service. They are also written to stack.json, where the command line reads
// them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../lib/folders.ts';
import { ensureSecret } from '../lib/secrets.ts';
import type { Dependencies } from './dependencies.ts';
import type { Model } from './servers/model.ts';

export type ServiceEnv = Record<string, string>;

export function serviceEnv(
  folders: Folders,
  stack: { instance: string; apiPort: number; dependencies: Dependencies; model: Model },
): ServiceEnv {
  const { instance, apiPort, dependencies, model } = stack;
  const keyFile = join(folders.data, 'encryption-key.secret');
  ensureSecret(keyFile, 'base64');
  const dataDir = join(folders.data, 'worker');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { uiUrl } = dependencies.temporal;
  return {
    INSTANCE: instance,
    DATA_DIR: dataDir,
    DATABASE_URL: dependencies.postgresUrl,
    REDIS_URL: dependencies.redisUrl,
    TEMPORAL_ADDRESS: dependencies.temporal.address,
    ...inheritedTls(),
    TEMPORAL_NAMESPACE: process.env.TEMPORAL_NAMESPACE ?? 'default',
    ...(uiUrl === null ? {} : { TEMPORAL_UI_URL: uiUrl }),
    DOCKER_HOST: `unix://${dependencies.dockerSocket}`,
    SANDBOX_IMAGE: dependencies.sandboxImage,
    SANDBOX_RUNTIME: process.env.SANDBOX_RUNTIME ?? '',
    API_HOST: '127.0.0.1',
    API_PORT: `${apiPort}`,
    PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
    ENCRYPTION_KEY_FILE: keyFile,
    ...modelEnv(model),
    WEBHOOK_CA_FILE: dependencies.authority.ca,
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
  };
}

function modelEnv({ keyFile, baseUrl }: Model): ServiceEnv {
  if (keyFile === null) return { OFFLINE_MODEL: 'yes', OFFLINE_MODEL_URL: baseUrl };
  const url: ServiceEnv = baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: baseUrl };
  return { ANTHROPIC_API_KEY_FILE: keyFile, ...url };
}

/** The worker takes the next port, because METRICS_PORT is the API's on the same machine. */
export function workerMetrics(): ServiceEnv {
  const { METRICS_PORT: port = '' } = process.env;
  return /^\d+$/.test(port) ? { METRICS_PORT: `${Number(port) + 1}` } : {};
}

/** TLS settings of external stores, which the command line needs as well. */
function inheritedTls(): ServiceEnv {
  const isStoreSetting = /^(?:REDIS|TEMPORAL)_TLS/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && isStoreSetting.test(name) ? [[name, value]] : [],
    ),
  );
}

export function writeStackFile(folders: Folders, env: ServiceEnv): void {
  const file = join(folders.data, 'stack.json');
  writeFileSync(file, `${JSON.stringify(env, null, 2)}\n`, { mode: 0o600 });
}

/** Empty if the stack has never been started. */
export function readStackFile(folders: Folders): ServiceEnv {
  const file = join(folders.data, 'stack.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ServiceEnv) : {}; // written by writeStackFile
}
