import type { Service } from './service.ts';
import { stackEnv } from './stack-env.ts';

/** The environment with which the command line finds the stores of a service. */
export function commandEnv(service: Service): Record<string, string> {
  return {
    INSTANCE: service.instance,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: service.encryptionKey.toString('base64'),
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    DATA_DIR: service.dataDir,
    PUBLIC_URL: service.url,
  };
}
