import type { Check } from '../check.ts';
import { api } from './api.ts';
import { clock } from './clock.ts';
import { containers } from './containers.ts';
import { disk } from './disk.ts';
import { docker } from './docker.ts';
import { encryptionKey } from './encryption-key.ts';
import { hosts } from './hosts.ts';
import { image } from './image.ts';
import { messages } from './messages.ts';
import { postgres } from './postgres.ts';
import { redis } from './redis.ts';
import { retention } from './retention.ts';
import { runs } from './runs.ts';
import { runtime } from './runtime.ts';
import { schedules } from './schedules.ts';
import { schema } from './schema.ts';
import { searchAttributes } from './search-attributes.ts';
import { temporal } from './temporal.ts';
import { webhooks } from './webhooks.ts';
import { workers } from './workers.ts';
import { workflows } from './workflows.ts';

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
