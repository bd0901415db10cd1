import { randomUUID } from 'node:crypto';
import { readApiConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { createStopWithError, logProcess } from '../config/process-log.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { hostThresholds } from '../core/hosts/host-thresholds.ts';
import { limits } from '../core/limits.ts';
import { createAddressFilter } from '../lib/net/public-address.ts';
import { createAuditLog } from '../systems/postgres/accounts/audit-log.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createFlowVersionStore } from '../systems/postgres/accounts/flow-version-store.ts';
import { createKeyStore } from '../systems/postgres/accounts/key-store.ts';
import { createKeyUsageStore } from '../systems/postgres/accounts/key-usage-store.ts';
import { createOperatorStore } from '../systems/postgres/accounts/operator-store.ts';
import { createOperatorTokenStore } from '../systems/postgres/accounts/operator-token-store.ts';
import { createProjectStore } from '../systems/postgres/accounts/project-store.ts';
import { createRunTokenStore } from '../systems/postgres/accounts/run-token-store.ts';
import { createAdmission } from '../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../systems/postgres/admission/run-config-store.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { createPool, type Pool } from '../systems/postgres/client/pool.ts';
import { clockAheadOfPostgres, postgresVersion } from '../systems/postgres/client/probe.ts';
import { createEndpointStore } from '../systems/postgres/endpoints/endpoint-store.ts';
import { createEventStore } from '../systems/postgres/endpoints/event-store.ts';
import { createBlobStore } from '../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../systems/postgres/files/file-store.ts';
import { createFlowFileStore } from '../systems/postgres/files/flow-file-store.ts';
import { createFleetStore } from '../systems/postgres/hosts/fleet-store.ts';
import { createHostRpcStore } from '../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../systems/postgres/log/frame-store.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createAgentTokenStore } from '../systems/postgres/runs/agent-token-store.ts';
import { createInteractionStore } from '../systems/postgres/runs/interaction-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { createSpendStore } from '../systems/postgres/runs/spend-store.ts';
import { createWebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import { findEarlierData } from '../systems/postgres/schema/earlier-data.ts';
import { requireCompleteSchema } from '../systems/postgres/schema/schema-state.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import { createSessionStore } from '../systems/postgres/sessions/session-store.ts';
import { createApiMetrics } from '../systems/prometheus/api-metrics.ts';
import { createAcceptedIds } from '../systems/redis/accepted-ids.ts';
import { connectRedis, type Redis } from '../systems/redis/connect.ts';
import { createDiskNotice } from '../systems/redis/disk-notice.ts';
import { createFrameStream } from '../systems/redis/frame-stream.ts';
import { readMemoryUse } from '../systems/redis/memory-use.ts';
import { createNotifications } from '../systems/redis/notifications.ts';
import { createPresence } from '../systems/redis/presence.ts';
import { redisVersion } from '../systems/redis/probe.ts';
import { createRateLimiter } from '../systems/redis/rate-limit.ts';
import { createStreamSlots } from '../systems/redis/stream-slots.ts';
import { createSubscriber } from '../systems/redis/subscriber.ts';
import { createTemporal } from '../systems/temporal/client.ts';
import { watchIdentity } from '../systems/temporal/watch-identity.ts';
import { buildApp } from './app.ts';
import { errorStatuses } from './errors.ts';
import { createHostRpc } from './files/host-rpc.ts';
import { createTrustedProxies } from './http/trusted-proxies.ts';
import { noopMetrics } from './metrics.ts';
import { logFirstSignInLink } from './operators/sign-in/first-sign-in.ts';
import { createPostgresDisk } from './postgres-disk.ts';

const config = readApiConfig();
const metrics = config.metrics && createApiMetrics(Object.keys(errorStatuses));
const logger = createLogger({
  level: config.logLevel,
  name: 'api',
  onLine: metrics?.lineWritten,
});
logProcess(logger);
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
const noModelKeyHint =
  'No ANTHROPIC_API_KEY is set on this machine. If no host has one, the offline model answers with made-up text.';
/** Connections that are open this long after a stop signal are closed. */
const stopWithinMs = 10_000;
const stopping = new AbortController();
const stopWithError = createStopWithError(logger, stopping);
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

/** Resources are closed in reverse order. */
async function main(signal: AbortSignal): Promise<void> {
  const { instance, host, port } = config;
  const earlierData = await findEarlierData(config.databaseUrl);
  if (earlierData !== null) return stopWithError('earlier_data_found', earlierData);
  const resources = open();
  const identityWatch = watchIdentity(resources.temporal, logUnavailable, signal);
  const { postgresDisk } = resources.deps;
  await postgresDisk.read();
  const diskWatch = postgresDisk.watch(signal);
  const metricsServer = await startMetrics(resources);
  const app = await buildApp(resources.deps);
  await app.listen({ host, port, listenTextResolver: () => 'api_listening' });
  logger.info({ instance, address: app.server.address() }, 'api_ready');
  const firstSignIn = logFirstSignInLink(
    { ...resources.deps, firstOperator: config.firstOperator },
    signal,
  );

  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  logger.info('api_stopping');
  const forceClose = setTimeout(() => app.server.closeAllConnections(), stopWithinMs);
  await app.close();
  clearTimeout(forceClose);
  await Promise.all([firstSignIn, identityWatch, diskWatch]);
  await metricsServer?.close();
  await resources.close();
  logger.info('api_stopped');
}

function logUnavailable(err: unknown): void {
  logger.warn({ err, check: 'temporal' }, 'dependency_unavailable');
}

function open() {
  const { instance } = config;
  const applicationName = `${instance}-api`;
  if (config.offlineModel) logger.warn({ hint: noModelKeyHint }, 'no_model_key');
  const onError = (err: Error) => logger.warn({ err }, 'connection_lost');
  const max = config.postgresConnections;
  const pool = createPool(config.databaseUrl, { applicationName, max, onError });
  const redis = connectRedis({ ...config.redis, name: applicationName, onError });
  const subscriber = createSubscriber(redis, { onError });
  const frameStream = createFrameStream(redis, { instance, subscriber });
  const notifications = createNotifications(redis, { instance, subscriber });
  const temporal = openTemporal(pool);
  const nowMs = () => performance.timeOrigin + performance.now();
  const { publicUrl, corsOrigins, temporalUiUrl, offlineModel, runDepthMax, modelPrices } = config;

  const deps = {
    ...{ publicUrl, corsOrigins, temporalUiUrl, offlineModel, runDepthMax, modelPrices },
    isTrustedProxy: createTrustedProxies({ proxies: config.trustedProxies, nowMs }),
    temporalNamespace: config.temporal.namespace,
    runTimeoutMs: config.times.runTimeoutMs,
    hostLostMs: config.times.hostLostMs,
    logger,
    postgresDisk: openPostgresDisk(redis),
    metrics: metrics ?? noopMetrics,
    presence: createPresence(redis, { instance }),
    // Several times within the idle timeout, so that one lost report does not end a session.
    presenceEveryMs: Math.min(limits.presence.everyMs, config.times.sessionIdleMs / 4),
    ...storesOn(pool),
    acceptedIds: createAcceptedIds(redis, { instance }),
    frameStream,
    notifications,
    hostRpc: createHostRpc({ store: createHostRpcStore(pool), notifications, newId: randomUUID }),
    rateLimiter: createRateLimiter(redis, { instance, nowMs }),
    streamSlots: createStreamSlots(redis, { instance }),
    readScheduleTimes: temporal.readScheduleTimes,
    startRun: temporal.startRun,
    startWebhook: temporal.startWebhook,
    stopRun: temporal.stopRun,
    signalMessage: temporal.signalMessage,
    isTemporalReachable: temporal.isReachable,
    signalInterrupt: temporal.signalInterrupt,
    signalSleep: temporal.signalSleep,
    isCallbackAddressAllowed: createAddressFilter(config.webhook.allowPrivate),
    ...readinessOf({ pool, redis, version: temporal.version }),
    now: () => new Date(),
    nowMs,
    newId: randomUUID,
  };
  async function close(): Promise<void> {
    subscriber.close();
    redis.disconnect();
    await Promise.all([temporal.close(), pool.end()]);
  }
  const redisMemory = () => readMemoryUse(redis);
  return { pool, temporal, redisMemory, deps, close };
}

function openPostgresDisk(redis: Redis) {
  const { instance, postgresDiskDir: dir, postgresDiskReserveBytes: reserveBytes } = config;
  const onShort = createDiskNotice(redis, { instance }).renew;
  return createPostgresDisk({ dir, reserveBytes, logger, onShort });
}

function openTemporal(pool: Pool) {
  const { remember } = createTemporalIdentityStore(pool);
  return createTemporal({
    ...config.temporal,
    instance: config.instance,
    publicUrl: config.publicUrl,
    storedIdentity: { remember, onMismatch: (hint) => stopWithError('other_temporal', hint) },
    timeouts: config.workflowTimeouts,
  });
}

/** Metrics are served from before the API listens until after it is closed. */
async function startMetrics({ pool, redisMemory, deps }: ReturnType<typeof open>) {
  if (config.metrics === null) return null;
  const { checks, postgresDisk } = deps;
  const checkWithinMs = limits.http.readinessTimeoutMs;
  const { count } = createFleetStore(pool, hostThresholds(config.times.hostLostMs).staleMs);
  const watched = { pools: [pool], checks, checkWithinMs, redisMemory };
  metrics?.watch({ ...watched, countFleet: count, postgresDisk: postgresDisk.last });
  return metrics?.serve(config.metrics);
}

function readinessOf(on: { pool: Pool; redis: Redis; version: () => Promise<string> }) {
  const { pool, redis, version } = on;
  return {
    checks: {
      postgres: async () => ({ version: await postgresVersion(pool) }),
      schema: async () => ({ version: await requireCompleteSchema(pool) }),
      redis: async () => ({ version: await redisVersion(redis) }),
      temporal: async () => ({ version: await version() }),
    },
    facts: {
      clockAheadMs: () => clockAheadOfPostgres(pool),
      hosts: createHostStore(pool).list,
    },
  };
}

function storesOn(pool: Pool) {
  const sealer = createSealer(config.encryptionKey);
  const { staleMs } = hostThresholds(config.times.hostLostMs);
  return {
    keys: createKeyStore(pool),
    runTokens: createRunTokenStore(pool),
    agentTokens: createAgentTokenStore(pool, sealer),
    keyUsage: createKeyUsageStore(pool),
    spend: createSpendStore(pool),
    configs: createRunConfigStore(pool, sealer),
    webhooks: createWebhookStore(pool, sealer),
    endpoints: createEndpointStore(pool),
    events: createEventStore(pool, sealer),
    operators: createOperatorStore(pool),
    operatorTokens: createOperatorTokenStore(pool),
    audit: createAuditLog(pool, sealer),
    projects: createProjectStore(pool, sealer),
    flows: createFlowStore(pool, sealer),
    flowVersions: createFlowVersionStore(pool),
    schedules: createScheduleStore(pool),
    admission: createAdmission(pool, sealer, staleMs),
    runs: createRunStore(pool, sealer),
    sessions: createSessionStore(pool, sealer),
    messages: createMessageStore(pool, staleMs),
    frames: createFrameStore(pool),
    interactions: createInteractionStore(pool),
    files: createFileStore(pool),
    flowFiles: createFlowFileStore(pool),
    blobs: createBlobStore(pool),
  };
}
