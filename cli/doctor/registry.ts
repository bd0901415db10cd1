import { apiCheck, postgresDiskCheck } from './checks/api.ts';
import { connectionsCheck } from './checks/connections.ts';
import { containersCheck } from './checks/containers.ts';
import { diskSpeedCheck } from './checks/disk-speed.ts';
import { diskCheck, dockerCheck, imageCheck, runtimeCheck } from './checks/docker.ts';
import { eventsCheck } from './checks/events.ts';
import { hostsCheck } from './checks/hosts.ts';
import {
  clockCheck,
  encryptionKeyCheck,
  postgresCheck,
  schemaCheck,
  temporaryTablesCheck,
} from './checks/postgres.ts';
import { redisCheck, redisMemoryCheck } from './checks/redis.ts';
import { retentionCheck } from './checks/retention.ts';
import { storageCheck } from './checks/storage.ts';
import { messagesCheck, runsCheck } from './checks/stuck-runs.ts';
import { searchAttributesCheck, temporalCheck, workersCheck } from './checks/temporal.ts';
import { temporalIdentityCheck } from './checks/temporal-identity.ts';
import { schedulesCheck, webhooksCheck } from './checks/webhooks.ts';
import { workflowsCheck } from './checks/workflows.ts';
import type { Check } from './types.ts';

/** Ordered so that every check comes after those it needs. */
export const checks: Check[] = [
  apiCheck,
  postgresCheck,
  schemaCheck,
  temporaryTablesCheck,
  encryptionKeyCheck,
  clockCheck,
  postgresDiskCheck,
  redisCheck,
  temporalCheck,
  temporalIdentityCheck,
  workersCheck,
  searchAttributesCheck,
  hostsCheck,
  connectionsCheck,
  redisMemoryCheck,
  dockerCheck,
  imageCheck,
  runtimeCheck,
  diskCheck,
  diskSpeedCheck,
  runsCheck,
  workflowsCheck,
  messagesCheck,
  schedulesCheck,
  webhooksCheck,
  eventsCheck,
  containersCheck,
  retentionCheck,
  storageCheck,
];
