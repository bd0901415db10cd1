import { api } from './checks/api.ts';
import { containers } from './checks/containers.ts';
import { disk, docker, image, runtime } from './checks/docker.ts';
import { hosts } from './checks/hosts.ts';
import { clock, encryptionKey, postgres, schema } from './checks/postgres.ts';
import { redis } from './checks/redis.ts';
import { retention } from './checks/retention.ts';
import { messages, runs } from './checks/stuck-runs.ts';
import { searchAttributes, temporal, workers } from './checks/temporal.ts';
import { schedules, webhooks } from './checks/webhooks.ts';
import { workflows } from './checks/workflows.ts';
import type { Check } from './types.ts';

/** In the order in which one needs another. */
export const checks: Check[] = [
  api,
  postgres,
  schema,
  encryptionKey,
  clock,
  redis,
  temporal,
  workers,
  searchAttributes,
  hosts,
  docker,
  image,
  runtime,
  disk,
  runs,
  workflows,
  messages,
  schedules,
  webhooks,
  containers,
  retention,
];
