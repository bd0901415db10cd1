import { setTimeout as sleep } from 'node:timers/promises';
import { type DoctorConfig, readDoctorConfig } from '../config/doctor-config.ts';
import type { Environment } from '../config/environment.ts';
import type { RedisConfig } from '../config/redis-config.ts';
import { openDocker } from '../systems/docker/open-docker.ts';
import { listNearQuota } from '../systems/postgres/accounts/stored-bytes.ts';
import { canOpenSecrets } from '../systems/postgres/accounts/webhook-secret.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { readConnectionUse } from '../systems/postgres/client/connection-use.ts';
import { createPool, type Pool } from '../systems/postgres/client/pool.ts';
import {
  clockAheadOfPostgres,
  mayCreateTemporaryTables,
  postgresVersion,
} from '../systems/postgres/client/probe.ts';
import { createEventStore } from '../systems/postgres/endpoints/event-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { createReconcileStore } from '../systems/postgres/maintenance/reconcile-store.ts';
import {
  largestTables,
  overdueBlobs,
  overdueRows,
} from '../systems/postgres/maintenance/retention-stats.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import { createTemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { schemaState } from '../systems/postgres/schema/schema-state.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import { readMemoryUse } from '../systems/redis/memory-use.ts';
import { probeRedis, redisVersion } from '../systems/redis/probe.ts';
import { createTemporal, type Temporal } from '../systems/temporal/client.ts';
import { createTemporalProbe, type TemporalProbe } from '../systems/temporal/probe.ts';
import { fetchReadiness } from './doctor/checks/api.ts';
import { handshakeTarget, postgresHandshakeFailure, tlsProblem } from './doctor/tls-diagnosis.ts';
import { tryHandshake } from './doctor/tls-handshake.ts';
import type { DoctorContext } from './doctor/types.ts';
import { createFixes } from './doctor-fixes.ts';
import { rejectEarlierData } from './reject-earlier-data.ts';

/** How long a pass of the workers' reconciler takes, with the effects of its changes. */
const passMs = 2_000;
/** An operator waits for the doctor, however rarely the workers reconcile. */
const settleMaxMs = 7_000;

/** Opens all connections that are configured here, and always closes them. */
export async function withDoctor<T>(
  work: (context: DoctorContext) => Promise<T>,
  env?: Environment,
): Promise<T> {
  const config = readDoctorConfig(env);
  await rejectEarlierData(config.databaseUrl);
  const pool = createPool(config.databaseUrl, { applicationName: 'flowrun-doctor', max: 4 });
  const temporal = openTemporal(config);
  try {
    return await work({
      config,
      ...onPostgres(pool, config),
      redis: config.redis && onRedis(config.redis),
      diagnoseTls: (store, error) => diagnoseTls(config, store, error),
      temporal: temporal && { ...temporal.client, ...temporal.probe },
      docker: dockerOf(config),
      readiness: () => fetchReadiness(config.publicUrl),
      fixes: createFixes(pool, config, temporal?.client ?? null),
      settle: () => sleep(Math.min(config.times.reconcileEveryMs + passMs, settleMaxMs)),
    });
  } finally {
    await Promise.all([pool.end(), temporal?.client.close(), temporal?.probe.close()]);
  }
}

const onRedis = (redis: RedisConfig) => ({
  version: () => probeRedis(redis, redisVersion),
  memory: () => probeRedis(redis, readMemoryUse),
});

async function diagnoseTls(
  config: DoctorConfig,
  ...[store, error]: Parameters<DoctorContext['diagnoseTls']>
): ReturnType<DoctorContext['diagnoseTls']> {
  const target = handshakeTarget(store, config);
  if (target === null) return null;
  const reported = store === 'postgres' ? postgresHandshakeFailure(error) : null;
  const failure = reported ?? (await tryHandshake(target));
  return failure && tlsProblem(store, failure, target.tls);
}

function onPostgres(pool: Pool, { encryptionKey, instance }: DoctorConfig) {
  const sealer = createSealer(encryptionKey);
  return {
    postgres: {
      version: () => postgresVersion(pool),
      schema: () => schemaState(pool),
      clockAheadMs: () => clockAheadOfPostgres(pool),
      connectionUse: () => readConnectionUse(pool, instance),
      mayCreateTemporaryTables: () => mayCreateTemporaryTables(pool),
      opensSecrets: () => canOpenSecrets(pool, sealer),
    },
    hosts: createHostStore(pool),
    runs: createRunStore(pool, sealer),
    reconcile: createReconcileStore(pool),
    temporalIdentity: createTemporalIdentityStore(pool),
    messages: createMessageStore(pool),
    schedules: createScheduleStore(pool),
    events: createEventStore(pool, sealer),
    projects: { nearQuota: (part: number) => listNearQuota(pool, part) },
    retention: {
      rows: (retention: Parameters<typeof overdueRows>[1]) => overdueRows(pool, retention),
      blobs: (retention: Parameters<typeof overdueBlobs>[1]) => overdueBlobs(pool, retention),
      largestTables: (limit: number) => largestTables(pool, limit),
    },
  };
}

function openTemporal(config: DoctorConfig): { client: Temporal; probe: TemporalProbe } | null {
  const { instance, temporal, times, publicUrl } = config;
  if (temporal === null) return null;
  const client = createTemporal({
    ...temporal,
    instance,
    publicUrl,
    timeouts: {
      noCapacityMs: times.noCapacityTimeoutMs,
      hostScheduleToStartMs: times.hostLostMs,
      idleMs: times.sessionIdleMs,
      attendedIdleMs: times.sessionAttendedIdleMs,
      turnsPerHistory: times.sessionTurnsPerHistory,
    },
  });
  return { client, probe: createTemporalProbe({ ...temporal, instance }) };
}

/** Built lazily, so that an invalid DOCKER_HOST is reported by its check. */
function dockerOf(config: DoctorConfig): DoctorContext['docker'] {
  const { dockerHost, dataDir, instance, sandboxRuntime: runtime } = config;
  if (dockerHost === null && dataDir === null) return null;
  const open = () =>
    openDocker({
      ...{ instance, runtime, dockerHost: dockerHost ?? undefined },
      image: config.sandboxImage ?? undefined,
      ...(dataDir === null ? {} : { data: { dir: dataDir, volume: config.dataVolume } }),
    });
  return {
    version: async () => open().engine.version(),
    imageId: async (image) => open().engine.imageId(image),
    findRuntime: async () => open().runtimes.findRuntime(),
    list: async () => open().sandboxes.list(),
    remove: async (containerId) => open().sandboxes.remove(containerId),
  };
}
