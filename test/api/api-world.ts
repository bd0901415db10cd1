// The API as its clients meet it: over HTTP, with a real Postgres and a real Redis. Only Temporal
// is a pair of functions, whose calls the test can see.

import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { buildApp } from '../../api/app.ts';
import type { App } from '../../api/app-types.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { mayCallAddress } from '../../api/public-address.ts';
import { createLogger } from '../../config/logger.ts';
import type { Run } from '../../core/run.ts';
import { createAdmission } from '../../systems/postgres/admission.ts';
import { createBlobStore } from '../../systems/postgres/blob-store.ts';
import { createFileStore } from '../../systems/postgres/file-store.ts';
import { createFlowStore, type NewFlow } from '../../systems/postgres/flow-store.ts';
import { createFrameStore } from '../../systems/postgres/frame-store.ts';
import { createKeyStore, type NewKey } from '../../systems/postgres/key-store.ts';
import { createProjectStore } from '../../systems/postgres/project-store.ts';
import { createRunStore } from '../../systems/postgres/run-store.ts';
import type { Redis } from '../../systems/redis/connect.ts';
import { createFrameStream, type FrameStream } from '../../systems/redis/frame-stream.ts';
import { createRateLimiter } from '../../systems/redis/rate-limit.ts';
import { createStreamSeats } from '../../systems/redis/stream-seats.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../support/database.ts';
import { openRedis, type RedisWorld } from '../systems/redis/redis-world.ts';

export interface ApiProcess {
  app: App;
  url: string;
  redis: Redis;
  /** What it has logged so far. */
  log: () => string;
  close: () => Promise<void>;
}

export interface ApiWorld {
  database: TestDatabase;
  redis: RedisWorld;
  stores: ReturnType<typeof storesOf>;
  frameStream: FrameStream;
  /** What was asked of Temporal, in order. */
  asked: { started: string[]; stopped: { workflowId: string; graceMs: number }[] };
  /** A further process of the same service. */
  start: (overrides?: Partial<ApiDeps>) => Promise<ApiProcess>;
  /** A project with a flow and a key of its own. */
  tenant: (given?: TenantOptions) => Promise<Tenant>;
  close: () => Promise<void>;
}

export interface TenantOptions {
  flow?: Partial<NewFlow>;
  key?: Partial<NewKey>;
  maxConcurrentRuns?: number;
  monthlyRunQuota?: number;
}

export interface Tenant {
  projectId: string;
  flowId: string;
  key: string;
  keyId: string;
}

export const publicUrl = 'https://runs.example.test';

export async function openApiWorld(): Promise<ApiWorld> {
  const database = await createTestDatabase();
  const redis = await openRedis();
  const stores = storesOf(database);
  const frameStream = createFrameStream(redis.redis, redis);
  const asked: ApiWorld['asked'] = { started: [], stopped: [] };
  const processes: ApiProcess[] = [];

  async function start(overrides: Partial<ApiDeps> = {}): Promise<ApiProcess> {
    const connection = await redis.connect();
    const output: string[] = [];
    const own = createFrameStream(connection, redis);
    const nowMs = () => performance.timeOrigin + performance.now();
    const app = await buildApp({
      ...stores,
      publicUrl,
      runTimeoutMs: 60_000,
      logger: createLogger({ level: 'debug', name: 'api' }, collect(output)),
      frameStream: own,
      rateLimiter: createRateLimiter(connection, { instance: redis.instance, nowMs }),
      seats: createStreamSeats(connection, redis),
      startRun: async (run: Run) => {
        asked.started.push(run.workflowId);
        return 'started';
      },
      signalStop: async (workflowId, { graceMs }) => {
        asked.stopped.push({ workflowId, graceMs });
        return 'signalled';
      },
      mayCall: mayCallAddress(['127.0.0.0/8']),
      checks: {
        postgres: () => database.pool.query('select 1'),
        redis: () => connection.ping(),
      },
      now: () => new Date(),
      nowMs,
      newId: randomUUID,
      ...overrides,
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const stop = async () => {
      await app.close();
      own.close();
      connection.disconnect();
    };
    const started = { app, url, redis: connection, log: () => output.join(''), close: stop };
    processes.push(started);
    return started;
  }

  async function tenant(given: TenantOptions = {}): Promise<Tenant> {
    const projectId = `p-${randomUUID()}`;
    await stores.projects.create({ projectId, name: 'A project' });
    const { maxConcurrentRuns = 100_000, monthlyRunQuota } = given;
    await stores.projects.update(projectId, {
      maxConcurrentRuns,
      ...(monthlyRunQuota === undefined ? {} : { monthlyRunQuota }),
    });
    const { flowId } = await stores.flows.create({ name: 'A flow', ...given.flow, projectId });
    const named = { name: 'ci', createdBy: 'ana', rateLimitRpm: 10_000, ...given.key, projectId };
    const { key, record } = await stores.keys.create(named);
    return { projectId, flowId, key, keyId: record.keyId };
  }

  async function close(): Promise<void> {
    await Promise.all(processes.map((started) => started.close()));
    frameStream.close();
    await redis.close();
    await database.drop();
  }

  return { database, redis, stores, frameStream, asked, start, tenant, close };
}

function storesOf({ pool }: TestDatabase) {
  return {
    projects: createProjectStore(pool, testSealer),
    keys: createKeyStore(pool),
    flows: createFlowStore(pool, testSealer),
    admission: createAdmission(pool, testSealer),
    runs: createRunStore(pool, testSealer),
    frames: createFrameStore(pool),
    files: createFileStore(pool),
    blobs: createBlobStore(pool),
  };
}

function collect(output: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      output.push(String(chunk));
      done();
    },
  });
}
