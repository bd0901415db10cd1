// Prints the memory limit of Redis for the slots of this machine. Called by make-secrets.

import { ConfigError } from '../config/config-error.ts';
import { readRedisMaxMemory } from '../config/redis-config.ts';

try {
  process.stdout.write(`${readRedisMaxMemory()}\n`);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
