import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readWorkerConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { logProcess } from '../config/process-log.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { hostThresholds } from '../core/hosts/host-thresholds.ts';
import { retryUntilAborted } from '../lib/async/retry.ts';
import { openDocker } from '../systems/docker/open-docker.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createProjectStore } from '../systems/postgres/accounts/project-store.ts';
import { createAdmission } from '../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../systems/postgres/admission/run-config-store.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { createPool } from '../systems/postgres/client/pool.ts';
import { clockAheadOfPostgres } from '../systems/postgres/client/probe.ts';
import { createBlobStore } from '../systems/postgres/files/blob-store.ts';
import { createFileStore } from '../systems/postgres/files/file-store.ts';
import { createHostRpcStore } from '../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../systems/postgres/log/frame-store.ts';
import { createReconcileStore } from '../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import { createInteractionStore } from '../systems/postgres/runs/interaction-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import { findEarlierData } from '../systems/postgres/schema/earlier-data.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import { createSessionStore } from '../systems/postgres/sessions/session-store.ts';
import { createTurnStore } from '../systems/postgres/sessions/turn-store.ts';
import { createWorkerMetrics } from '../systems/prometheus/worker-metrics.ts';
import { connectRedis } from '../systems/redis/connect.ts';
import { createFrameStream } from '../systems/redis/frame-stream.ts';
import { createNotifier } from '../systems/redis/notifier.ts';
import { createPresence } from '../systems/redis/presence.ts';
import { createSubscriber } from '../systems/redis/subscriber.ts';
import { createEgress } from './egress/run-listener.ts';
import { forceExitAfterGrace } from './force-exit.ts';
import { answerHandler } from './host/answer-handler.ts';
import { lockDataDir } from './host/data-dir-lock.ts';
import { createHostHealthMonitor } from './host/health.ts';
import { runHeartbeat } from './host/heartbeat.ts';
import { fileHandlers } from './host/rpc-handlers.ts';
import { serveHostRpc } from './host/rpc-server.ts';
import { createSelfFence } from './host/self-fence.ts';
import { exitWhenLockLost } from './host/watch-folder.ts';
import {
  instrumentFrames,
  instrumentStarts,
  instrumentTurns,
  instrumentWebhooks,
  runObserver,
} from './instrumentation.ts';
import { noopMetrics } from './metrics.ts';
import { createRenewalStreak } from './reconciler/hosts/renewal-streak.ts';
import { createReconciler } from './reconciler/reconciler.ts';
import { reconcilerThresholds } from './reconciler/thresholds.ts';
import { createRunLogContext } from './run-log-context.ts';
import { createSupervisor } from './sandbox/supervisor.ts';
import { ignoreAbort, pollTasks } from './temporal/poll-tasks.ts';
import { registerSearchAttributes } from './temporal/search-attributes.ts';
import { createWebhookSender } from './webhook/send-webhook.ts';

const config = readWorkerConfig();
const metrics = config.metrics && createWorkerMetrics();
const onLine = metrics?.lineWritten;
const logger = createLogger({ level: config.logLevel, name: 'worker', onLine });
logProcess(logger);
const teller = { metrics: metrics ?? noopMetrics, logger };
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
/** A tailer for each sandbox, an activity or two, the reconciler. */
const poolSize = 20;
const host = hostThresholds(config.times.hostLostMs);
const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

function logNotYet(error: unknown, attempt: number): void {
  logger.warn({ err: error, attempt }, 'dependency_unavailable');
}

/**
 * The order matters: the folder is ours, then the sandboxes are heard again, then work is taken. What
 * takes work is only loaded then, which takes as long as all before it: no agent waits for that.
 */
async function main(signal: AbortSignal): Promise<void> {
  const earlierData = await findEarlierData(config.databaseUrl);
  if (earlierData !== null) {
    logger.fatal({ hint: earlierData }, 'earlier_data_found');
    process.exitCode = 1;
    return;
  }
  const folder = lockDataDir(config.dataDir);
  logger.info({ hostId: folder.hostId, instance: config.instance }, 'worker_starting');
  exitWhenLockLost(folder, logger);
  const home = buildHome(folder.hostId);
  const told = config.metrics && (await metrics?.serve(config.metrics));
  const until = { signal, onFailure: logNotYet };

  // The agents inside give up on a silent socket after three minutes.
  await retryUntilAborted(() => home.supervisor.adoptExisting(), until).catch(ignoreAbort(signal));
  const answering = serveHostRpc(home.hostRequests, signal);
  const work = await loadWork(home);
  const present = [runHeartbeat(home.hostRow, signal), home.fence.run(signal)];
  const loops = [...present, home.reporter.run(signal), work.reconciler.run(signal), answering];
  await pollTasks({ poll: work.poll, fence: home.fence, logger }, signal);

  // Whatever runs in a sandbox goes on without us.
  await Promise.all(loops);
  await home.supervisor.close();
  await work.close();
  await home.close();
  await told?.close();
  folder.release();
  logger.info('worker_stopped');
  forceExitAfterGrace(logger);
}

/** What looks after this host's sandboxes, apart from any task. */
function buildHome(hostId: string) {
  const { pool, redis, frameStream, subscriber, presence, bells, sandboxes, reporter, egress } =
    connect();
  const sealer = createSealer(config.encryptionKey);
  const runs = createRunStore(pool, sealer, runObserver(teller));
  const turns = instrumentTurns(createTurnStore(pool, host.staleMs), teller.metrics);
  const now = (): Date => new Date();
  const common = {
    hostId,
    runs,
    runLogContext: createRunLogContext(runs),
    frameStream,
    logger,
    now,
  };
  const supervisor = createSupervisor({
    ...common,
    sandboxes,
    bells,
    egress,
    dataDir: config.dataDir,
    image: config.sandboxImage,
    configs: createRunConfigStore(pool, sealer),
    frames: instrumentFrames(createFrameStore(pool), teller.metrics),
    interactions: createInteractionStore(pool),
    files: createFileStore(pool),
    flows: createFlowStore(pool, sealer),
    sessions: createSessionStore(pool, sealer),
    turns,
    projects: createProjectStore(pool, sealer),
    blobs: createBlobStore(pool),
    times: config.times,
    pauseAfterMs: config.times.sessionPauseAfterMs,
    bounds: config.sandboxLimits,
    newId: randomUUID,
  });
  const { capacity, hostName: name } = config;
  metrics?.watch({ pool, capacity, countSandboxes: () => supervisor.live().length });
  const { renewed, forMs } = createRenewalStreak({
    gapMs: host.staleMs / 2,
    now,
  });
  const fence = createSelfFence({ hostId, times: host, runs, sandboxes, egress, logger });
  return {
    fence,
    reporter,
    common: {
      ...common,
      pool,
      sealer,
      sandboxes,
      supervisor,
      turns,
      presence,
      renewedForMs: forMs,
    },
    supervisor,
    hostRow: {
      hosts: createHostStore(pool),
      host: { hostId, name, capacity },
      lastReport: reporter.last,
      everyMs: host.renewMs,
      onRenewed: [fence.renewed, renewed],
      logger,
    },
    hostRequests: {
      ...common,
      store: createHostRpcStore(pool),
      bells,
      handlers: { ...fileHandlers(supervisor), ...answerHandler(supervisor) },
    },
    close: async () => {
      await egress.close();
      subscriber.close();
      redis.disconnect();
      await pool.end();
    },
  };
}

/** What takes tasks, and what compares. */
async function loadWork({ common }: ReturnType<typeof buildHome>) {
  const [{ createActivities }, { createTemporal }, runtime, { createWorker }, bundles] =
    await Promise.all([
      import('../activities/index.ts'),
      import('../systems/temporal/client.ts'),
      import('./temporal/runtime.ts'),
      import('./temporal/workers.ts'),
      import('./temporal/workflow-bundle.ts'),
    ]);
  const { hostId, pool, sealer, sandboxes, supervisor } = common;
  const { instance, capacity, times } = config;
  runtime.installTemporalRuntime(logger, config.temporalMetrics);
  const workflowBundle = await bundles.ensureWorkflowBundle({
    cacheDir: join(config.dataDir, 'cache'),
  });
  const temporal = createTemporal({
    ...config.temporal,
    instance,
    publicUrl: config.publicUrl,
    timeouts: {
      noCapacityMs: times.noCapacityTimeoutMs,
      hostScheduleToStartMs: times.hostLostMs,
      idleMs: times.sessionIdleMs,
      attendedIdleMs: times.sessionAttendedIdleMs,
      turnsPerHistory: times.sessionTurnsPerHistory,
    },
  });
  const webhooks = createWebhookStore(pool, sealer);
  const activities = createActivities({
    ...common,
    supervisor: instrumentStarts(supervisor, teller.metrics),
    webhooks,
    admission: createAdmission(pool, sealer, host.staleMs),
    flows: createFlowStore(pool, sealer),
    temporal,
    runTimeoutMs: times.runTimeoutMs,
    sendWebhook: instrumentWebhooks(createWebhookSender(config.webhook), teller.metrics),
  });
  const options = { instance, hostId, capacity, ...config.temporal, activities, workflowBundle };
  return {
    reconciler: createReconciler({
      ...common,
      webhooks,
      messages: createMessageStore(pool, host.staleMs),
      temporal,
      reconcile: createReconcileStore(pool),
      schedules: createScheduleStore(pool),
      retention: createRetentionStore(pool),
      listSandboxes: sandboxes.list,
      removeSandbox: supervisor.remove,
      removeOrphanedFolders: supervisor.removeOrphanedFolders,
      thresholds: reconcilerThresholds(times.reconcileEveryMs, host),
      retentionTimes: config.retention,
    }),
    poll: () => registerSearchAttributes(temporal, logger).then(() => createWorker(options)),
    close: temporal.close,
  };
}

/** What is outside: none of it has to be there yet. */
function connect() {
  const { instance, dockerHost, sandboxRuntime: runtime, sandboxImage: image } = config;
  const name = `${instance}-worker`;
  const data = { dir: config.dataDir, volume: config.dataVolume };
  if (config.offlineModel) logger.warn('offline_model');
  const onError = (error: Error): void => logger.warn({ err: error }, 'connection_lost');
  const redis = connectRedis({ ...config.redis, name, onError });
  const pool = createPool(config.databaseUrl, { applicationName: name, max: poolSize, onError });
  const docker = openDocker({ dockerHost, instance, data, runtime, image });
  const clockAheadMs = () => clockAheadOfPostgres(pool);
  const subscriber = createSubscriber(redis, { onError });
  return {
    redis,
    subscriber,
    frameStream: createFrameStream(redis, { instance, subscriber }),
    presence: createPresence(redis, { instance }),
    bells: createNotifier(redis, { instance, subscriber }),
    pool,
    sandboxes: docker.sandboxes,
    reporter: createHostHealthMonitor({ config, docker, clockAheadMs, logger }),
    egress: createEgress({ model: config.model, allowPrivate: config.egress.allowPrivate }),
  };
}
