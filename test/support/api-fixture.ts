// The API over HTTP with a real Postgres and a real Redis. Only Temporal is replaced, by functions
// that record their calls.

import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { buildApp } from '../../api/app.ts';
import type { App } from '../../api/app-types.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { createHostRpc } from '../../api/files/host-rpc.ts';
import { noopMetrics } from '../../api/metrics.ts';
import { createLogger } from '../../config/logger.ts';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Run } from '../../core/runs/run.ts';
import { createAddressFilter } from '../../lib/net/public-address.ts';
import { createAuditLog } from '../../systems/postgres/accounts/audit-log.ts';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import { createFlowVersionStore } from '../../systems/postgres/accounts/flow-version-store.ts';
import { createKeyStore, type NewKey } from '../../systems/postgres/accounts/key-store.ts';
import { createKeyUsageStore } from '../../systems/postgres/accounts/key-usage-store.ts';
import { createOperatorStore } from '../../systems/postgres/accounts/operator-store.ts';
import { createOperatorTokenStore } from '../../systems/postgres/accounts/operator-token-store.ts';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createRunTokenStore } from '../../systems/postgres/accounts/run-token-store.ts';
import { createAdmission } from '../../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../../systems/postgres/admission/run-config-store.ts';
import { clockAheadOfPostgres, postgresVersion } from '../../systems/postgres/client/probe.ts';
import { createEndpointStore } from '../../systems/postgres/endpoints/endpoint-store.ts';
import { createEventStore } from '../../systems/postgres/endpoints/event-store.ts';
import { createBlobStore } from '../../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../../systems/postgres/files/flow-file-store.ts';
import { createHostRpcStore } from '../../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../systems/postgres/log/frame-store.ts';
import { createScheduleStore } from '../../systems/postgres/maintenance/schedule-store.ts';
import { createAgentTokenStore } from '../../systems/postgres/runs/agent-token-store.ts';
import { createInteractionStore } from '../../systems/postgres/runs/interaction-store.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import { createSpendStore } from '../../systems/postgres/runs/spend-store.ts';
import { createWebhookStore } from '../../systems/postgres/runs/webhook-store.ts';
import { createMessageStore } from '../../systems/postgres/sessions/message-store.ts';
import { createSessionStore } from '../../systems/postgres/sessions/session-store.ts';
import { createAcceptedIds } from '../../systems/redis/accepted-ids.ts';
import type { Redis } from '../../systems/redis/connect.ts';
import { createFrameStream, type FrameStream } from '../../systems/redis/frame-stream.ts';
import { createNotifications } from '../../systems/redis/notifications.ts';
import { createPresence } from '../../systems/redis/presence.ts';
import { redisVersion } from '../../systems/redis/probe.ts';
import { createRateLimiter } from '../../systems/redis/rate-limit.ts';
import { createStreamSlots } from '../../systems/redis/stream-slots.ts';
import { createTestDatabase, type TestDatabase, testSealer } from './database.ts';
import { openRedis, type RedisFixture } from './redis-fixture.ts';

export interface ApiProcess {
  app: App;
  url: string;
  redis: Redis;
  /** The log so far. */
  log: () => string;
  close: () => Promise<void>;
}

export interface ApiFixture {
  database: TestDatabase;
  redis: RedisFixture;
  stores: ReturnType<typeof storesOf>;
  frameStream: FrameStream;
  /** The calls to Temporal, in order. */
  asked: {
    started: string[];
    stopped: { workflowId: string; graceMs: number }[];
    interrupted: { workflowId: string; messageId: string }[];
    redelivered: { runId: string; firstAttempt: number; delivery: number }[];
  };
  /** Starts another process of the same service. */
  start: (overrides?: Partial<ApiDeps>, port?: number) => Promise<ApiProcess>;
  /** Creates a project with a flow and a key. */
  tenant: (options?: TenantOptions) => Promise<Tenant>;
  close: () => Promise<void>;
}

interface TenantOptions {
  flow?: Partial<NewFlow>;
  key?: Partial<NewKey>;
  maxConcurrentRuns?: number;
  maxOpenSessions?: number;
  monthlyRunQuota?: number;
  storageQuotaBytes?: number;
}

export interface Tenant {
  projectId: string;
  flowId: string;
  key: string;
  keyId: string;
}

export const publicUrl = 'https://runs.example.test';

export async function openApiFixture(): Promise<ApiFixture> {
  const database = await createTestDatabase();
  const redis = await openRedis();
  const stores = storesOf(database);
  const frameStream = createFrameStream(redis.redis, redis);
  const asked: ApiFixture['asked'] = {
    ...{ started: [], stopped: [], interrupted: [], redelivered: [] },
  };
  const processes: ApiProcess[] = [];

  async function start(overrides: Partial<ApiDeps> = {}, port = 0): Promise<ApiProcess> {
    const connection = await redis.connect();
    const output: string[] = [];
    const own = createFrameStream(connection, redis);
    const notifications = createNotifications(connection, redis);
    const nowMs = () => performance.timeOrigin + performance.now();
    const app = await buildApp({
      ...stores,
      publicUrl,
      corsOrigins: 'any',
      isTrustedProxy: () => false,
      temporalUiUrl: null,
      temporalNamespace: 'default',
      offlineModel: false,
      runTimeoutMs: 60_000,
      runDepthMax: 3,
      modelPrices: {},
      hostLostMs: limits.host.lostMs,
      logger: createLogger({ level: 'debug', name: 'api' }, collect(output)),
      metrics: noopMetrics,
      postgresDisk: { isShort: () => false, last: () => null },
      acceptedIds: createAcceptedIds(connection, redis),
      frameStream: own,
      notifications,
      hostRpc: createHostRpc({ store: stores.hostRpc, notifications, newId: randomUUID }),
      rateLimiter: createRateLimiter(connection, { instance: redis.instance, nowMs }),
      streamSlots: createStreamSlots(connection, redis),
      presence: createPresence(connection, redis),
      signalMessage: async () => 'signalled',
      isTemporalReachable: () => false, // so no hint assigns slots; tests claim them
      signalInterrupt: async (workflowId, { messageId }) => {
        asked.interrupted.push({ workflowId, messageId });
        return 'signalled';
      },
      signalSleep: async () => 'signalled',
      readScheduleTimes: async () => null,
      startRun: async (run: Run) => {
        asked.started.push(run.workflowId);
        return 'started';
      },
      startWebhook: async (delivery) => {
        asked.redelivered.push(delivery);
        return 'started';
      },
      stopRun: async ({ workflowId }, { graceMs }) => {
        asked.stopped.push({ workflowId, graceMs });
        return 'signalled';
      },
      isCallbackAddressAllowed: createAddressFilter(['127.0.0.0/8']),
      checks: {
        postgres: async () => ({ version: await postgresVersion(database.pool) }),
        redis: async () => ({ version: await redisVersion(connection) }),
      },
      facts: {
        clockAheadMs: () => clockAheadOfPostgres(database.pool),
        hosts: stores.hosts.list,
      },
      now: () => new Date(),
      nowMs,
      newId: randomUUID,
      ...overrides,
    });
    const url = await app.listen({ host: '127.0.0.1', port });
    const stop = async () => {
      await app.close();
      notifications.close();
      own.close();
      connection.disconnect();
    };
    const started = { app, url, redis: connection, log: () => output.join(''), close: stop };
    processes.push(started);
    return started;
  }

  async function tenant(options: TenantOptions = {}): Promise<Tenant> {
    const projectId = `p-${randomUUID()}`;
    await stores.projects.create({ projectId, name: 'A project' });
    const { maxConcurrentRuns = 100_000, maxOpenSessions, monthlyRunQuota } = options;
    const { storageQuotaBytes } = options;
    const runBounds = { maxConcurrentRuns, maxOpenSessions, monthlyRunQuota };
    const bounds = omitUndefined({ ...runBounds, storageQuotaBytes });
    await stores.projects.update(projectId, bounds);
    const { flowId } = await stores.flows.create({ name: 'A flow', ...options.flow, projectId });
    const named = { name: 'ci', createdBy: 'ana', rateLimitRpm: 10_000, ...options.key, projectId };
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

/** What a process reads and writes in Postgres. */
export function storesOf({ pool }: Pick<TestDatabase, 'pool'>) {
  return {
    projects: createProjectStore(pool, testSealer),
    keys: createKeyStore(pool),
    runTokens: createRunTokenStore(pool),
    agentTokens: createAgentTokenStore(pool, testSealer),
    keyUsage: createKeyUsageStore(pool),
    spend: createSpendStore(pool),
    webhooks: createWebhookStore(pool, testSealer),
    endpoints: createEndpointStore(pool),
    events: createEventStore(pool, testSealer),
    operators: createOperatorStore(pool),
    operatorTokens: createOperatorTokenStore(pool),
    audit: createAuditLog(pool, testSealer),
    flows: createFlowStore(pool, testSealer),
    flowVersions: createFlowVersionStore(pool),
    schedules: createScheduleStore(pool),
    admission: createAdmission(pool, testSealer),
    runs: createRunStore(pool, testSealer),
    configs: createRunConfigStore(pool, testSealer),
    sessions: createSessionStore(pool, testSealer),
    messages: createMessageStore(pool),
    frames: createFrameStore(pool),
    interactions: createInteractionStore(pool),
    files: createFileStore(pool),
    flowFiles: createFlowFileStore(pool),
    blobs: createBlobStore(pool),
    hostRpc: createHostRpcStore(pool),
    hosts: createHostStore(pool),
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
