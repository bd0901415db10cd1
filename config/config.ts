import type { z } from 'zod';
import type { HostModel } from '../core/hosts/host-model.ts';
import { offlineModelName } from '../core/metering/model-prices.ts';
import type { ModelUpstream } from '../core/model/model-upstream.ts';
import { apiVariables } from './api-variables.ts';
import { ConfigError } from './config-error.ts';
import { deepFreeze, type Environment, readVariables } from './environment.ts';
import { redisConfig } from './redis-config.ts';
import { readTemporalConfig } from './temporal-config.ts';
import { publicUrlOf } from './variable-types.ts';
import { serviceVariables, workerVariables } from './variables.ts';

const dayMs = 24 * 3_600_000;

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** Throws a ConfigError that names every invalid variable. */
export function readApiConfig(env: Environment = process.env) {
  const read = readVariables(env, { ...serviceVariables, ...apiVariables });
  return deepFreeze({
    ...serviceConfig(read, env),
    host: read.API_HOST,
    port: read.API_PORT,
    postgresConnections: read.API_POSTGRES_CONNECTIONS,
    /** Null if the free space of Postgres' disk is not watched. */
    postgresDiskDir: read.POSTGRES_DISK_DIR ?? null,
    postgresDiskReserveBytes: read.POSTGRES_DISK_RESERVE_BYTES,
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
    /** The name of the first operator. */
    firstOperator: read.INIT_OPERATOR,
    temporalUiUrl: read.TEMPORAL_UI_URL ?? null,
    runDepthMax: read.RUN_DEPTH_MAX,
    /** No model key is set, so the offline model may answer. The hosts decide. */
    offlineModel:
      read.OFFLINE_MODEL_URL !== undefined &&
      read.OFFLINE_MODEL !== 'no' &&
      read.HAS_MODEL_KEY === 'no',
    webhook: { allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
  });
}

/** Throws a ConfigError that names every invalid variable. */
export function readWorkerConfig(env: Environment = process.env) {
  const read = readVariables(env, { ...serviceVariables, ...workerVariables });
  return deepFreeze({
    ...serviceConfig(read, env),
    dataDir: read.DATA_DIR,
    /** The Docker volume mounted at `dataDir`, if the worker runs in a container. */
    dataVolume: read.DATA_VOLUME ?? null,
    diskReserve: { bytes: read.DISK_RESERVE_BYTES, inodes: read.DISK_RESERVE_INODES },
    hostName: read.HOST_NAME,
    capacity: read.HOST_CAPACITY,
    postgresConnections: read.WORKER_POSTGRES_CONNECTIONS,
    sandboxLimits: {
      spoolBytes: read.SPOOL_MAX_BYTES,
      workspaceBytes: read.WORKSPACE_MAX_BYTES,
      workspaceInodes: read.WORKSPACE_MAX_INODES,
    },
    temporalMetrics: listener(read.METRICS_HOST, read.METRICS_TEMPORAL_PORT),
    ...hostModelOf(read),
    sandboxImage: read.SANDBOX_IMAGE,
    sandboxRuntime: read.SANDBOX_RUNTIME,
    dockerHost: read.DOCKER_HOST,
    webhook: { caFile: read.WEBHOOK_CA_FILE ?? null, allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
    egress: { allowPrivate: read.EGRESS_ALLOW_PRIVATE },
    apiUrl: read.API_URL ?? publicUrlOf(read),
    retention: {
      runMs: read.RUN_RETENTION_DAYS * dayMs,
      sessionFilesMs: read.SESSION_FILE_RETENTION_DAYS * dayMs,
      webhookAttemptsMs: read.WEBHOOK_ATTEMPT_RETENTION_DAYS * dayMs,
    },
  });
}

type WorkerVariables = z.output<z.ZodObject<typeof workerVariables & typeof serviceVariables>>;
type ServiceVariables = z.output<z.ZodObject<typeof serviceVariables>>;

function serviceConfig(read: ServiceVariables, env: Environment) {
  return {
    instance: read.INSTANCE,
    databaseUrl: read.DATABASE_URL,
    redis: redisConfig(read),
    temporal: readTemporalConfig(env),
    /** The URL of the API for clients, without a trailing slash. */
    publicUrl: publicUrlOf(read),
    encryptionKey: read.ENCRYPTION_KEY,
    /** The operator's prices. They take precedence over the list prices. */
    modelPrices: read.MODEL_PRICES,
    logLevel: read.LOG_LEVEL,
    /** The listener of the metrics endpoint; null if it is off. */
    metrics: listener(read.METRICS_HOST, read.METRICS_PORT),
    /** Where this process kills itself, for tests; otherwise null. */
    failpoint: read.FAILPOINT ?? null,
    times: timesOf(read),
    /** The timeouts of workflows that an operator may set. */
    workflowTimeouts: {
      noCapacityMs: read.NO_CAPACITY_TIMEOUT_MS,
      hostScheduleToStartMs: read.HOST_LOST_MS,
      snapshotMs: read.SNAPSHOT_TIMEOUT_MS,
      idleMs: read.SESSION_IDLE_MS,
      attendedIdleMs: read.SESSION_ATTENDED_IDLE_MS,
      turnsPerHistory: read.SESSION_TURNS_PER_HISTORY,
    },
  };
}

const timesOf = (read: ServiceVariables) => ({
  runTimeoutMs: read.RUN_TIMEOUT_MS,
  stallTimeoutMs: read.STALL_TIMEOUT_MS,
  afterResultGraceMs: read.AFTER_RESULT_GRACE_MS,
  noCapacityTimeoutMs: read.NO_CAPACITY_TIMEOUT_MS,
  reconcileEveryMs: read.RECONCILE_EVERY_MS,
  leaseMs: read.LEASE_MS,
  /** The other durations of a host are fractions of this one. */
  hostLostMs: read.HOST_LOST_MS,
  sessionIdleMs: read.SESSION_IDLE_MS,
  sessionAttendedIdleMs: read.SESSION_ATTENDED_IDLE_MS,
  sessionPauseAfterMs: read.SESSION_PAUSE_AFTER_MS,
  sessionTurnsPerHistory: read.SESSION_TURNS_PER_HISTORY,
});

const listener = (host: string, port: number | undefined) =>
  port === undefined ? null : { host, port };

const noKey = 'ANTHROPIC_API_KEY is not set: expected it, or OFFLINE_MODEL=no';
const noUrl = 'OFFLINE_MODEL_URL is not set: OFFLINE_MODEL=yes needs it';

/** The host's model and its upstream; null if it has none. */
function hostModelOf({
  ANTHROPIC_API_KEY: apiKey,
  ANTHROPIC_BASE_URL: baseUrl,
  OFFLINE_MODEL: offline,
  OFFLINE_MODEL_URL: offlineUrl,
}: WorkerVariables): { hostModel: HostModel; modelUpstream: ModelUpstream | null } {
  if (apiKey !== undefined) {
    if (offline !== 'yes') return { hostModel: 'key', modelUpstream: { apiKey, baseUrl } };
    throw new ConfigError('ANTHROPIC_API_KEY and OFFLINE_MODEL=yes are both set: expected one');
  }
  if (offline === 'no') return { hostModel: 'none', modelUpstream: null };
  if (offlineUrl === undefined) throw new ConfigError(offline === 'yes' ? noUrl : noKey);
  const modelUpstream = { apiKey: 'offline', baseUrl: offlineUrl, onlyModel: offlineModelName };
  return { hostModel: offline === 'yes' ? 'offline' : 'offline_by_default', modelUpstream };
}
