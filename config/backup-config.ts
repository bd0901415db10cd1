import type { Buffer } from 'node:buffer';
import { effectiveEnv } from './cli-config.ts';
import { deepFreeze, type Environment, readVariables } from './environment.ts';
import { type RedisConfig, redisConfig, redisVariables } from './redis-config.ts';
import { serviceVariables } from './variables.ts';

interface BackupConfig {
  databaseUrl: string;
  encryptionKey: Buffer;
  /** Environment variables for pg_dump and pg_restore. */
  programEnv: { PATH?: string; HOME?: string };
}

interface RestoreConfig extends BackupConfig {
  redis: RedisConfig;
  instance: string;
}

/** From the environment or from the local stack, like the rest of the command line. */
export function readBackupConfig(env: Environment = process.env): Readonly<BackupConfig> {
  const { DATABASE_URL, ENCRYPTION_KEY } = serviceVariables;
  const read = readVariables(effectiveEnv(env), { DATABASE_URL, ENCRYPTION_KEY });
  const { PATH, HOME } = env;
  return deepFreeze({
    databaseUrl: read.DATABASE_URL,
    encryptionKey: read.ENCRYPTION_KEY,
    programEnv: { ...(PATH && { PATH }), ...(HOME && { HOME }) },
  });
}

export function readRestoreConfig(env: Environment = process.env): Readonly<RestoreConfig> {
  const { INSTANCE } = serviceVariables;
  const read = readVariables(effectiveEnv(env), { ...redisVariables, INSTANCE });
  return deepFreeze({
    ...readBackupConfig(env),
    redis: redisConfig(read),
    instance: read.INSTANCE,
  });
}
