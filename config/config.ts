import type { Buffer } from 'node:buffer';
import type { z } from 'zod';
import type { Failpoint } from '../core/failpoint.ts';
import type { RuntimeSetting } from '../core/sandbox/sandbox-runtime.ts';
import { deepFreeze, type Environment, readVariables } from './environment.ts';
import { type RedisConfig, redisConfig } from './redis-config.ts';
import { readTemporalConfig, type TemporalConfig } from './temporal-config.ts';
import {
  apiVariables,
  type LogLevel,
  publicUrlOf,
  serviceVariables,
  workerVariables,
} from './variables.ts';

export type { RedisConfig } from './redis-config.ts';
export type { TemporalConfig } from './temporal-config.ts';

const dayMs = 24 * 3_600_000;

/** Times that an operator or a test may shorten. */
export interface Times {
  runTimeoutMs: number;
  stallTimeoutMs: number;
  afterResultGraceMs: number;
  noCapacityTimeoutMs: number;
  reconcileEveryMs: number;
  leaseMs: number;
  /** Until others take over what a silent host had; its other times are parts of this one. */
  hostLostMs: number;
  /** Until an idle sandbox of a session is put to sleep: unwatched, and watched. */
  sessionIdleMs: number;
  sessionAttendedIdleMs: number;
  /** Until it is paused. */
  sessionPauseAfterMs: number;
  sessionTurnsPerHistory: number;
}

interface ServiceConfig {
  instance: string;
  databaseUrl: string;
  redis: RedisConfig;
  temporal: TemporalConfig;
  /** The address by which clients reach the API, without a slash at its end. */
  publicUrl: string;
  encryptionKey: Buffer;
  logLevel: LogLevel;
  /** Where this process tells its metrics; null: nowhere. */
  metrics: { host: string; port: number } | null;
  times: Times;
  /** Where this process is to die, for a test; null everywhere else. */
  failpoint: Failpoint | null;
}

export interface ApiConfig extends ServiceConfig {
  host: string;
  port: number;
  /** The origins whose pages may call the API from a browser. */
  corsOrigins: 'any' | string[];
  /** Whose word about where a call comes from is believed: addresses, networks, host names. */
  trustedProxies: string[];
  /** No key for a real model was given: answers are made up. */
  offlineModel: boolean;
  webhook: { allowPrivate: string[] };
}

export interface WorkerConfig extends ServiceConfig {
  dataDir: string;
  /** The Docker volume that it is the root of, where the worker is a container itself. */
  dataVolume: string | null;
  hostName: string;
  capacity: number;
  /** What a sandbox may use. */
  sandboxLimits: { spoolBytes: number; workspaceBytes: number; workspaceInodes: number };
  temporalUiUrl: string | null;
  /** Where Temporal's SDK tells its own. */
  temporalMetrics: { host: string; port: number } | null;
  model: { apiKey: string; baseUrl: string };
  /** No key for a real model was given: answers are made up. */
  offlineModel: boolean;
  sandboxImage: string;
  sandboxRuntime: RuntimeSetting;
  dockerHost: string;
  webhook: { caFile: string | null; allowPrivate: string[] };
  egress: { allowPrivate: string[] };
  /** How long what ended is kept. */
  retention: { runMs: number; sessionFilesMs: number; webhookAttemptsMs: number };
}

/** Throws a ConfigError that names every variable at fault. */
export function readApiConfig(env: Environment = process.env): Readonly<ApiConfig> {
  const read = readVariables(env, { ...serviceVariables, ...apiVariables });
  return deepFreeze({
    ...serviceConfig(read, env),
    host: read.API_HOST,
    port: read.API_PORT,
    corsOrigins: read.CORS_ORIGINS,
    trustedProxies: read.TRUSTED_PROXIES,
    offlineModel: read.OFFLINE_MODEL_URL !== undefined && read.HAS_MODEL_KEY === 'no',
    webhook: { allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
  });
}

/** Throws a ConfigError that names every variable at fault. */
export function readWorkerConfig(env: Environment = process.env): Readonly<WorkerConfig> {
  const offline = offlineModelOf(env);
  const read = readVariables({ ...env, ...offline }, { ...serviceVariables, ...workerVariables });
  return deepFreeze({
    ...serviceConfig(read, env),
    dataDir: read.DATA_DIR,
    dataVolume: read.DATA_VOLUME ?? null,
    hostName: read.HOST_NAME,
    capacity: read.HOST_CAPACITY,
    sandboxLimits: {
      spoolBytes: read.SPOOL_MAX_BYTES,
      workspaceBytes: read.WORKSPACE_MAX_BYTES,
      workspaceInodes: read.WORKSPACE_MAX_INODES,
    },
    temporalUiUrl: read.TEMPORAL_UI_URL ?? null,
    temporalMetrics: listener(read.METRICS_HOST, read.METRICS_TEMPORAL_PORT),
    model: { apiKey: read.ANTHROPIC_API_KEY, baseUrl: read.ANTHROPIC_BASE_URL },
    offlineModel: offline !== null,
    sandboxImage: read.SANDBOX_IMAGE,
    sandboxRuntime: read.SANDBOX_RUNTIME,
    dockerHost: read.DOCKER_HOST,
    webhook: { caFile: read.WEBHOOK_CA_FILE ?? null, allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
    egress: { allowPrivate: read.EGRESS_ALLOW_PRIVATE },
    retention: {
      runMs: read.RUN_RETENTION_DAYS * dayMs,
      sessionFilesMs: read.SESSION_FILE_RETENTION_DAYS * dayMs,
      webhookAttemptsMs: read.WEBHOOK_ATTEMPT_RETENTION_DAYS * dayMs,
    },
  });
}

const listener = (host: string, port: number | undefined) =>
  port === undefined ? null : { host, port };

/** What stands for the model where its key is missing and something else answers; it asks for no key. */
function offlineModelOf(env: Environment): Environment | null {
  const { ANTHROPIC_API_KEY, ANTHROPIC_API_KEY_FILE, OFFLINE_MODEL_URL } = env;
  if (ANTHROPIC_API_KEY || ANTHROPIC_API_KEY_FILE || !OFFLINE_MODEL_URL) return null;
  return { ANTHROPIC_API_KEY: 'offline', ANTHROPIC_BASE_URL: OFFLINE_MODEL_URL };
}

type ServiceVariables = z.output<z.ZodObject<typeof serviceVariables>>;

function serviceConfig(read: ServiceVariables, env: Environment): ServiceConfig {
  return {
    instance: read.INSTANCE,
    databaseUrl: read.DATABASE_URL,
    redis: redisConfig(read),
    temporal: readTemporalConfig(env),
    publicUrl: publicUrlOf(read),
    encryptionKey: read.ENCRYPTION_KEY,
    logLevel: read.LOG_LEVEL,
    metrics: listener(read.METRICS_HOST, read.METRICS_PORT),
    failpoint: read.FAILPOINT ?? null,
    times: {
      runTimeoutMs: read.RUN_TIMEOUT_MS,
      stallTimeoutMs: read.STALL_TIMEOUT_MS,
      afterResultGraceMs: read.AFTER_RESULT_GRACE_MS,
      noCapacityTimeoutMs: read.NO_CAPACITY_TIMEOUT_MS,
      reconcileEveryMs: read.RECONCILE_EVERY_MS,
      leaseMs: read.LEASE_MS,
      hostLostMs: read.HOST_LOST_MS,
      sessionIdleMs: read.SESSION_IDLE_MS,
      sessionAttendedIdleMs: read.SESSION_ATTENDED_IDLE_MS,
      sessionPauseAfterMs: read.SESSION_PAUSE_AFTER_MS,
      sessionTurnsPerHistory: read.SESSION_TURNS_PER_HISTORY,
    },
  };
}
