import { randomBytes } from 'node:crypto';

export const encryptionKey = randomBytes(32);

/** The settings without a default. */
export const env = {
  DATABASE_URL: 'postgres://user:canary@127.0.0.1:5432/flowrun',
  REDIS_URL: 'redis://127.0.0.1:6379/0',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  ENCRYPTION_KEY: encryptionKey.toString('base64'),
  DATA_DIR: '/var/lib/flowrun',
  ANTHROPIC_API_KEY: 'sk-canary',
  SANDBOX_IMAGE: 'flowrun-sandbox:1',
};
