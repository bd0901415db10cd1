import type { WorkerConfig } from '../config/config.ts';
import { openDocker } from '../systems/docker/open-docker.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../systems/postgres/accounts/project-store.ts';
import { createRunConfigStore } from '../systems/postgres/admission/run-config-store.ts';
import type { Sealer } from '../systems/postgres/admission/seal.ts';
import type { Pool } from '../systems/postgres/client/pool.ts';
import { clockAheadOfPostgres } from '../systems/postgres/client/probe.ts';
import { openWorkerPools } from '../systems/postgres/client/worker-pools.ts';
import { createBlobStore } from '../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../systems/postgres/files/file-store.ts';
import { type AgentRef, createAgentToken } from '../systems/postgres/runs/agent-token-store.ts';
import { createInteractionStore } from '../systems/postgres/runs/interaction-store.ts';
import { createLedgerStore } from '../systems/postgres/runs/ledger-store.ts';
import { createSessionStore } from '../systems/postgres/sessions/session-store.ts';
import { connectRedis } from '../systems/redis/connect.ts';
import { createDiskNotice } from '../systems/redis/disk-notice.ts';
import { createFrameStream } from '../systems/redis/frame-stream.ts';
import { createNotifications } from '../systems/redis/notifications.ts';
import { createPresence } from '../systems/redis/presence.ts';
import { createSubscriber } from '../systems/redis/subscriber.ts';
import { createEgress } from './egress/run-listener.ts';
import { createHostHealthMonitor } from './host/health.ts';
import { createProjectQuotas } from './host/quota/project-quotas.ts';
import type { Telemetry } from './instrumentation.ts';

/**
 * Opens the connections to all systems but Temporal. None of the systems has to be available yet.
 */
export function connect(config: WorkerConfig, { metrics, logger }: Telemetry) {
  const { instance, dockerHost, sandboxRuntime: runtime, sandboxImage: image } = config;
  const name = `${instance}-worker`;
  const data = { dir: config.dataDir, volume: config.dataVolume };
  const onError = (error: Error): void => logger.warn({ err: error }, 'connection_lost');
  const redis = connectRedis({ ...config.redis, name, onError });
  const { databaseUrl, postgresConnections: connections } = config;
  const pools = openWorkerPools(databaseUrl, { applicationName: name, connections, onError });
  const docker = openDocker({ dockerHost, instance, data, runtime, image });
  const clockAheadMs = () => clockAheadOfPostgres(pools.pool);
  const subscriber = createSubscriber(redis, { onError });
  const projectQuotas = createProjectQuotas({ dataDir: config.dataDir, logger });
  const egress = createEgress({
    modelUpstream: config.modelUpstream,
    ...config.egress,
    apiUrl: config.apiUrl,
    onControlRefused: metrics.controlRefused,
  });
  return {
    frameStream: createFrameStream(redis, {
      instance,
      subscriber,
      onPublished: metrics.batchPublished,
    }),
    presence: createPresence(redis, { instance }),
    notifications: createNotifications(redis, { instance, subscriber }),
    diskNotice: createDiskNotice(redis, { instance }),
    pools,
    sandboxes: docker.sandboxes,
    projectQuotas,
    healthMonitor: createHostHealthMonitor({
      config,
      docker,
      projectQuotas,
      clockAheadMs,
      logger,
    }),
    egress,
    async close() {
      await egress.close();
      subscriber.close();
      redis.disconnect();
      await pools.end();
    },
  };
}

/** The stores that only sandboxes use. */
export function sandboxStores(pool: Pool, sealer: Sealer) {
  return {
    configs: createRunConfigStore(pool, sealer),
    interactions: createInteractionStore(pool),
    files: createFileStore(pool),
    flows: createFlowStore(pool, sealer),
    sessions: createSessionStore(pool, sealer),
    projects: createProjectStore(pool, sealer),
    ledger: createLedgerStore(pool),
    blobs: createBlobStore(pool),
    createAgentToken: (agent: AgentRef) => createAgentToken(sealer, agent),
  };
}
