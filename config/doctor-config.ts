import type { Buffer } from 'node:buffer';
import type { RuntimeSetting } from '../core/sandbox/sandbox-runtime.ts';
import { apiVariables } from './api-variables.ts';
import { effectiveEnv } from './cli-config.ts';
import { deepFreeze, type Environment, readVariables } from './environment.ts';
import { type RedisConfig, redisConfig, redisVariables } from './redis-config.ts';
import { findTemporalConfig, type TemporalConfig } from './temporal-config.ts';
import { publicUrlOf } from './variable-types.ts';
import { serviceVariables, workerVariables } from './variables.ts';

/** Settings of the doctor; null if not configured here. */
export interface DoctorConfig {
  instance: string;
  databaseUrl: string;
  encryptionKey: Buffer;
  /** The connections of one API process to Postgres. */
  apiConnections: number;
  publicUrl: string;
  redis: RedisConfig | null;
  temporal: TemporalConfig | null;
  /** Settings of a host, if the doctor runs on one. */
  dockerHost: string | null;
  sandboxImage: string | null;
  sandboxRuntime: RuntimeSetting;
  dataDir: string | null;
  dataVolume: string | null;
  diskReserveBytes: number;
  /** The same durations as in the services, for the doctor's fixes. */
  times: {
    reconcileEveryMs: number;
    hostLostMs: number;
    noCapacityTimeoutMs: number;
    sessionIdleMs: number;
    sessionAttendedIdleMs: number;
    sessionTurnsPerHistory: number;
  };
}

const needed = {
  INSTANCE: serviceVariables.INSTANCE,
  DATABASE_URL: serviceVariables.DATABASE_URL,
  ENCRYPTION_KEY: serviceVariables.ENCRYPTION_KEY,
  PUBLIC_URL: serviceVariables.PUBLIC_URL,
  API_HOST: serviceVariables.API_HOST,
  API_PORT: serviceVariables.API_PORT,
  API_POSTGRES_CONNECTIONS: apiVariables.API_POSTGRES_CONNECTIONS,
  RECONCILE_EVERY_MS: serviceVariables.RECONCILE_EVERY_MS,
  HOST_LOST_MS: serviceVariables.HOST_LOST_MS,
  NO_CAPACITY_TIMEOUT_MS: serviceVariables.NO_CAPACITY_TIMEOUT_MS,
  SESSION_IDLE_MS: serviceVariables.SESSION_IDLE_MS,
  SESSION_ATTENDED_IDLE_MS: serviceVariables.SESSION_ATTENDED_IDLE_MS,
  SESSION_TURNS_PER_HISTORY: serviceVariables.SESSION_TURNS_PER_HISTORY,
  ...redisVariables,
  REDIS_URL: redisVariables.REDIS_URL.optional(),
  DOCKER_HOST: workerVariables.DOCKER_HOST.unwrap().optional(),
  SANDBOX_IMAGE: workerVariables.SANDBOX_IMAGE.optional(),
  SANDBOX_RUNTIME: workerVariables.SANDBOX_RUNTIME,
  DATA_DIR: workerVariables.DATA_DIR.optional(),
  DATA_VOLUME: workerVariables.DATA_VOLUME,
  DISK_RESERVE_BYTES: workerVariables.DISK_RESERVE_BYTES,
};

/** Throws a ConfigError that names every invalid variable. */
export function readDoctorConfig(own: Environment = process.env): Readonly<DoctorConfig> {
  const env = effectiveEnv(own);
  const read = readVariables(env, needed);
  return deepFreeze({
    instance: read.INSTANCE,
    databaseUrl: read.DATABASE_URL,
    encryptionKey: read.ENCRYPTION_KEY,
    apiConnections: read.API_POSTGRES_CONNECTIONS,
    publicUrl: publicUrlOf(read),
    redis:
      read.REDIS_URL === undefined ? null : redisConfig({ ...read, REDIS_URL: read.REDIS_URL }),
    temporal: findTemporalConfig(env),
    dockerHost: read.DOCKER_HOST ?? null,
    sandboxImage: read.SANDBOX_IMAGE ?? null,
    sandboxRuntime: read.SANDBOX_RUNTIME,
    dataDir: read.DATA_DIR ?? null,
    dataVolume: read.DATA_VOLUME ?? null,
    diskReserveBytes: read.DISK_RESERVE_BYTES,
    times: {
      reconcileEveryMs: read.RECONCILE_EVERY_MS,
      hostLostMs: read.HOST_LOST_MS,
      noCapacityTimeoutMs: read.NO_CAPACITY_TIMEOUT_MS,
      sessionIdleMs: read.SESSION_IDLE_MS,
      sessionAttendedIdleMs: read.SESSION_ATTENDED_IDLE_MS,
      sessionTurnsPerHistory: read.SESSION_TURNS_PER_HISTORY,
    },
  });
}
