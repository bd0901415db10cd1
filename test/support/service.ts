import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { type OfflineModel, startOfflineModel } from '../../offline-model/server.ts';
import { openDocker } from '../../systems/docker/open-docker.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../systems/postgres/accounts/key-store.ts';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { linesIn, withoutRequest } from './log-lines.ts';
import { type ProcessOptions, type ServiceProcess, serviceProcess } from './service-process.ts';
import { stackEnv } from './stack-env.ts';
import { testBundle } from './test-bundle.ts';

/** Servers to use instead of the stack's. */
interface OtherParts {
  postgresUrl?: string;
  redisUrl?: string;
  temporalAddress?: string;
  dockerHost?: string;
}

export interface ServiceOptions {
  on?: OtherParts;
  /** The agent in the sandboxes. The default is the scripted one. */
  agent?: 'scripted' | 'real';
  env?: Record<string, string>;
  /** The offline model answers, as at a first start. */
  withoutModelKey?: true;
  flow?: Partial<NewFlow>;
  /** Runs the sources, as the image does, instead of compiled files. */
  sources?: true;
}

/** The whole service as child processes, with a project, a flow and a key. */
export interface Service extends ApiClient {
  url: string;
  instance: string;
  projectId: string;
  flowId: string;
  key: string;
  /** The model's key, which only the service may have. */
  modelKey: string;
  encryptionKey: Buffer;
  dataDir: string;
  database: TestDatabase;
  sandboxes: Sandboxes;
  model: OfflineModel;
  api: ServiceProcess;
  worker: ServiceProcess;
  /** Another API of this service, not started yet. `stop` stops it too. */
  anotherApi(): Promise<{ url: string; api: ServiceProcess }>;
  /** Another worker with the same data folder, not started yet. `stop` stops it too. */
  anotherWorker(): ServiceProcess;
  /** Another host of this service, whose worker is not started yet. `stop` stops it too. */
  anotherHost(): Promise<Host>;
  stop(): Promise<void>;
}

export interface Host {
  worker: ServiceProcess;
  dataDir: string;
  /** Available once the worker has been started. */
  hostId(): string;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const name = randomBytes(3).toString('hex');
  const instance = `s-${name}`;
  const dataDir = join(stackEnv.dataDir, name);
  await prepareDataDir(dataDir);
  const [database, model, port] = await Promise.all([
    createTestDatabase(options.on?.postgresUrl),
    startOfflineModel(),
    freePort(),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const secrets = {
    encryptionKey: randomBytes(32),
    modelKey: `sk-${randomBytes(12).toString('hex')}`,
  };
  const env = {
    ...settingsOf(options),
    INSTANCE: instance,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    API_PORT: String(port),
    PUBLIC_URL: url,
    ENCRYPTION_KEY: secrets.encryptionKey.toString('base64'),
    ...options.env,
  };
  const workerEnv = {
    ...env,
    ...(options.withoutModelKey === true
      ? { OFFLINE_MODEL_URL: model.url }
      : { ANTHROPIC_API_KEY: secrets.modelKey, ANTHROPIC_BASE_URL: model.url }),
    ...options.env,
  };
  const sources = options.sources === true;
  const others: ServiceProcess[] = [];
  const dataDirs = [dataDir];
  const api = apiProcess({ name: 'api', env, logDir: dataDir, sources }, url);
  const worker = workerProcess({ name: 'worker', env: workerEnv, logDir: dataDir, sources });
  const { sandboxes } = openDocker({ dockerHost: env.DOCKER_HOST, instance });
  const tenant = await createTenant(database, secrets.encryptionKey, options.flow);

  async function stop(): Promise<void> {
    await Promise.all([api, worker, ...others].map((each) => each.kill('SIGTERM')));
    for (const { containerId } of await sandboxes.list()) await sandboxes.remove(containerId);
    await Promise.all([database.drop(), model.close()]);
    const logs = readdirSync(dataDir).filter((file) => file.endsWith('.log'));
    const astray = withoutRequest(logs.flatMap((file) => linesIn(join(dataDir, file))));
    for (const folder of dataDirs) rmSync(folder, { recursive: true, force: true });
    if (astray.length > 0) throw new Error(`lead to no request: ${JSON.stringify(astray)}`);
  }

  const service: Service = {
    ...createApiClient({ url, key: tenant.key, flowId: tenant.flowId }),
    ...tenant,
    url,
    instance,
    ...secrets,
    dataDir,
    database,
    sandboxes,
    model,
    api,
    worker,
    async anotherApi() {
      const nth = `api-${others.length + 2}`;
      const otherPort = await freePort();
      const otherUrl = `http://127.0.0.1:${otherPort}`;
      const otherEnv = { ...env, API_PORT: String(otherPort) };
      const other = apiProcess({ name: nth, env: otherEnv, logDir: dataDir }, otherUrl);
      others.push(other);
      return { url: otherUrl, api: other };
    },
    anotherWorker() {
      const nth = `worker-${others.length + 2}`;
      const other = workerProcess({ name: nth, env: workerEnv, logDir: dataDir });
      others.push(other);
      return other;
    },
    async anotherHost() {
      const nth = dataDirs.length + 1;
      const ownDir = join(stackEnv.dataDir, `${name}${nth}`);
      dataDirs.push(ownDir);
      await prepareDataDir(ownDir);
      const ownEnv = { ...workerEnv, DATA_DIR: ownDir };
      const other = workerProcess({ name: `host-${nth}`, env: ownEnv, logDir: dataDir, sources });
      others.push(other);
      return { worker: other, dataDir: ownDir, hostId: () => hostIdIn(ownDir) };
    },
    stop,
  };
  try {
    await Promise.all([api.start(), worker.start()]);
  } catch (error) {
    await stop();
    throw error;
  }
  return service;
}

export const hostIdIn = (dataDir: string): string =>
  readFileSync(join(dataDir, 'host-id'), 'utf8').trim();

/** Builds the workflow bundle in advance, because otherwise every worker would build it. */
async function prepareDataDir(dataDir: string): Promise<void> {
  const { codePath } = await testBundle();
  mkdirSync(join(dataDir, 'cache'), { recursive: true });
  copyFileSync(codePath, join(dataDir, 'cache', basename(codePath)));
}

type Program = Pick<ProcessOptions, 'name' | 'env' | 'logDir' | 'sources'>;

const apiProcess = (program: Program, url: string): ServiceProcess =>
  serviceProcess({ ...program, program: 'api/main.js', ready: () => answers(`${url}/readyz`) });

const workerProcess = (program: Program): ServiceProcess =>
  serviceProcess({
    ...program,
    program: 'worker/main.js',
    ready: ({ logSince }) => logSince().includes('"worker_ready"'),
  });

function settingsOf({ agent = 'scripted', on = {} }: ServiceOptions) {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    REDIS_URL: on.redisUrl ?? stackEnv.redisUrl,
    TEMPORAL_ADDRESS: on.temporalAddress ?? stackEnv.temporalAddress,
    DOCKER_HOST: on.dockerHost ?? stackEnv.dockerHost,
    SANDBOX_IMAGE: agent === 'real' ? stackEnv.sandboxImage : stackEnv.scriptedImage,
    SANDBOX_RUNTIME: stackEnv.sandboxRuntime,
    HOST_CAPACITY: '20',
    WEBHOOK_CA_FILE: join(stackEnv.caDir, 'ca.crt'),
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
    LOG_LEVEL: 'debug',
    ...(process.env['TEST_DROP_HINTS'] === '1' && { NODE_OPTIONS: `--import=${dropHints}` }),
  };
}

const dropHints = new URL('../fixtures/drop-hints.ts', import.meta.url).pathname;

/** A project with a flow and a key. */
export async function createTenant(
  { pool }: TestDatabase,
  key: Buffer,
  flow: Partial<NewFlow> = {},
) {
  const sealer = createSealer(key);
  const projectId = `p-${randomBytes(4).toString('hex')}`;
  await createProjectStore(pool, sealer).create({ projectId, name: 'Project' });
  const { flowId } = await createFlowStore(pool, sealer).create({
    projectId,
    name: 'Flow',
    ...flow,
  });
  const made = await createKeyStore(pool).create({
    projectId,
    name: 'ci',
    createdBy: 'ana',
    rateLimitRpm: 10_000,
  });
  return { projectId, flowId, key: made.key };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  );
}
