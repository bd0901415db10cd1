import { api } from './checks/api.ts';
import { clock } from './checks/clock.ts';
import { containers } from './checks/containers.ts';
import { disk } from './checks/disk.ts';
import { docker } from './checks/docker.ts';
import { encryptionKey } from './checks/encryption-key.ts';
import { hosts } from './checks/hosts.ts';
import { image } from './checks/image.ts';
import { messages } from './checks/messages.ts';
import { postgres } from './checks/postgres.ts';
import { redis } from './checks/redis.ts';
import { retention } from './checks/retention.ts';
import { runtime } from './checks/runtime.ts';
import { schedules } from './checks/schedules.ts';
import { schema } from './checks/schema.ts';
import { searchAttributes } from './checks/search-attributes.ts';
import { runs } from './checks/stuck-runs.ts';
import { temporal } from './checks/temporal.ts';
import { webhooks } from './checks/webhooks.ts';
import { workers } from './checks/workers.ts';
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
