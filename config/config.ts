import type { Buffer } from 'node:buffer';
import type { z } from 'zod';
import type { Failpoint } from '../core/failpoint.ts';
import { type Environment, frozen, readVariables } from './environment.ts';
import { readTemporalConfig, type TemporalConfig } from './temporal-config.ts';
import { type LogLevel, serviceVariables, workerVariables } from './variables.ts';

export type { TemporalConfig } from './temporal-config.ts';

/** Times that an operator or a test may shorten. */
export interface Times {
  runTimeoutMs: number;
  stallTimeoutMs: number;
  afterResultGraceMs: number;
  noCapacityTimeoutMs: number;
  reconcileEveryMs: number;
  leaseMs: number;
}

interface ServiceConfig {
  instance: string;
  databaseUrl: string;
  redisUrl: string;
  temporal: TemporalConfig;
  /** The address by which clients reach the API, without a slash at its end. */
  publicUrl: string;
  encryptionKey: Buffer;
  logLevel: LogLevel;
  times: Times;
  /** Where this process is to die, for a test; null everywhere else. */
  failpoint: Failpoint | null;
}

export interface ApiConfig extends ServiceConfig {
  host: string;
  port: number;
  webhook: { allowPrivate: string[] };
}

export interface WorkerConfig extends ServiceConfig {
  dataDir: string;
  hostName: string;
  capacity: number;
  temporalUiUrl: string | null;
  model: { apiKey: string; baseUrl: string };
  sandboxImage: string;
  dockerHost: string;
  webhook: { caFile: string | null; allowPrivate: string[] };
  egress: { allowPrivate: string[] };
}

/** Throws a ConfigError that names every variable at fault. */
export function readApiConfig(env: Environment = process.env): Readonly<ApiConfig> {
  const read = readVariables(env, serviceVariables);
  return frozen({
    ...serviceConfig(read, env),
    host: read.API_HOST,
    port: read.API_PORT,
    webhook: { allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
  });
}

/** Throws a ConfigError that names every variable at fault. */
export function readWorkerConfig(env: Environment = process.env): Readonly<WorkerConfig> {
  const read = readVariables(env, { ...serviceVariables, ...workerVariables });
  return frozen({
    ...serviceConfig(read, env),
    dataDir: read.DATA_DIR,
    hostName: read.HOST_NAME,
    capacity: read.HOST_CAPACITY,
    temporalUiUrl: read.TEMPORAL_UI_URL ?? null,
    model: { apiKey: read.ANTHROPIC_API_KEY, baseUrl: read.ANTHROPIC_BASE_URL },
    sandboxImage: read.SANDBOX_IMAGE,
    dockerHost: read.DOCKER_HOST,
    webhook: { caFile: read.WEBHOOK_CA_FILE ?? null, allowPrivate: read.WEBHOOK_ALLOW_PRIVATE },
    egress: { allowPrivate: read.EGRESS_ALLOW_PRIVATE },
  });
}

type ServiceVariables = z.output<z.ZodObject<typeof serviceVariables>>;

function serviceConfig(read: ServiceVariables, env: Environment): ServiceConfig {
  return {
    instance: read.INSTANCE,
    databaseUrl: read.DATABASE_URL,
    redisUrl: read.REDIS_URL,
    temporal: readTemporalConfig(env),
    publicUrl: read.PUBLIC_URL ?? `http://${read.API_HOST}:${read.API_PORT}`,
    encryptionKey: read.ENCRYPTION_KEY,
    logLevel: read.LOG_LEVEL,
    failpoint: read.FAILPOINT ?? null,
    times: {
      runTimeoutMs: read.RUN_TIMEOUT_MS,
      stallTimeoutMs: read.STALL_TIMEOUT_MS,
      afterResultGraceMs: read.AFTER_RESULT_GRACE_MS,
      noCapacityTimeoutMs: read.NO_CAPACITY_TIMEOUT_MS,
      reconcileEveryMs: read.RECONCILE_EVERY_MS,
      leaseMs: read.LEASE_MS,
    },
  };
}
