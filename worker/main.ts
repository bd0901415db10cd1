import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readWorkerConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { createStopWithError, logProcess } from '../config/process-log.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { hostThresholds } from '../core/hosts/host-thresholds.ts';
import { retryUntilAborted } from '../lib/async/retry.ts';
import { settlesWithin } from '../lib/async/timeout.ts';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../systems/postgres/admission/admission.ts';
import { createSealer } from '../systems/postgres/admission/seal.ts';
import { createHostRpcStore } from '../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../systems/postgres/log/frame-store.ts';
import { createReconcileStore } from '../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import {
  createTemporalIdentityStore,
  type TemporalIdentityStore,
} from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import { findEarlierData } from '../systems/postgres/schema/earlier-data.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import { createTurnStore } from '../systems/postgres/sessions/turn-store.ts';
import { createWorkerMetrics } from '../systems/prometheus/worker-metrics.ts';
import { watchIdentity } from '../systems/temporal/watch-identity.ts';
import { connect, sandboxStores } from './connect.ts';
import { forceExitAfterGrace } from './force-exit.ts';
import { exitWhenLockLost, lockDataDir } from './host/data-dir-lock.ts';
import { runHeartbeat } from './host/heartbeat.ts';
import { answerHandler, fileHandlers } from './host/rpc-handlers.ts';
import { serveHostRpc } from './host/rpc-server.ts';
import { createSelfFence } from './host/self-fence.ts';
import {
  instrumentFrames,
  instrumentStarts,
  instrumentTurns,
  instrumentWebhooks,
  noopMetrics,
  runObserver,
} from './instrumentation.ts';
import { createRenewalStreak } from './reconciler/hosts/renewal-streak.ts';
import { createReconciler } from './reconciler/reconciler.ts';
import { reconcilerThresholds } from './reconciler/thresholds.ts';
import { createRunLogContext } from './run-log-context.ts';
import { createSupervisor } from './sandbox/supervisor.ts';
import { ignoreAbort, pollTasks } from './temporal/poll-tasks.ts';
import { registerSearchAttributes } from './temporal/register-search-attributes.ts';
import { createWebhookSender } from './webhook/send-webhook.ts';

const config = readWorkerConfig();
const metrics = config.metrics && createWorkerMetrics();
const onLine = metrics?.lineWritten;
const logger = createLogger({ level: config.logLevel, name: 'worker', onLine });
logProcess(logger);
const telemetry = { metrics: metrics ?? noopMetrics, logger };
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
const host = hostThresholds(config.times.hostLostMs);
/** How long a start waits for Temporal's answer. Without one it continues, and takes no tasks. */
const identityWaitMs = 1_000;
const stopping = new AbortController();
const stopWithError = createStopWithError(logger, stopping);
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

function logUnavailable(error: unknown, attempt?: number): void {
  logger.warn({ err: error, attempt }, 'dependency_unavailable');
}

/**
 * The order matters: the folder is locked, then existing sandboxes are adopted, then tasks are polled.
 * Temporal is loaded only then, because loading it takes as long as everything before, and agents wait
 * for the adoption.
 */
async function main(signal: AbortSignal): Promise<void> {
  const earlierData = await findEarlierData(config.databaseUrl);
  if (earlierData !== null) return stopWithError('earlier_data_found', earlierData);
  const dataDirLock = lockDataDir(config.dataDir);
  logger.info({ hostId: dataDirLock.hostId, instance: config.instance }, 'worker_starting');
  exitWhenLockLost(dataDirLock, logger);
  const local = buildSupervisor(dataDirLock.hostId);
  const metricsServer = config.metrics && (await metrics?.serve(config.metrics));
  const until = { signal, onFailure: logUnavailable };

  // An agent gives up on an unresponsive socket after three minutes.
  await retryUntilAborted(() => local.supervisor.adoptExisting(), until).catch(ignoreAbort(signal));
  const answering = serveHostRpc(local.rpc, signal);
  const taskWorkers = await loadTemporal(local);
  // A host of another Temporal sends no heartbeat, so nothing is placed on it.
  await settlesWithin(identityWaitMs, taskWorkers.verifyIdentity());
  const presence = [runHeartbeat(local.heartbeat, signal), local.fence.run(signal)];
  const loops = [
    ...presence,
    local.healthMonitor.run(signal),
    taskWorkers.reconciler.run(signal),
    watchIdentity(taskWorkers, logUnavailable, signal),
    answering,
  ];
  await pollTasks({ poll: taskWorkers.poll, fence: local.fence, logger }, signal);

  // Sandboxes keep running without this process.
  await Promise.all(loops);
  await local.supervisor.close();
  await taskWorkers.close();
  await local.close();
  await metricsServer?.close();
  dataDirLock.release();
  logger.info('worker_stopped');
  forceExitAfterGrace(logger);
}

/** Builds what supervises this host's sandboxes, independently of tasks. */
function buildSupervisor(hostId: string) {
  const { pool, frameStream, presence, notifications, sandboxes, healthMonitor, egress, close } =
    connect(config, logger);
  const sealer = createSealer(config.encryptionKey);
  const runs = createRunStore(pool, sealer, runObserver(telemetry));
  const turns = instrumentTurns(createTurnStore(pool, host.staleMs), telemetry.metrics);
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
    notifications,
    egress,
    dataDir: config.dataDir,
    image: config.sandboxImage,
    frames: instrumentFrames(createFrameStore(pool), telemetry.metrics),
    ...sandboxStores(pool, sealer),
    turns,
    times: config.times,
    pauseAfterMs: config.times.sessionPauseAfterMs,
    bounds: config.sandboxLimits,
    newId: randomUUID,
  });
  const { capacity, hostName: name } = config;
  metrics?.watch({ pool, capacity, countSandboxes: () => supervisor.live().length });
  const { renewed, forMs: renewedForMs } = createRenewalStreak({ gapMs: host.staleMs / 2, now });
  const fence = createSelfFence({ hostId, times: host, runs, sandboxes, egress, logger });
  return {
    fence,
    healthMonitor,
    common: { ...common, pool, sealer, sandboxes, supervisor, turns, presence, renewedForMs },
    supervisor,
    heartbeat: {
      hosts: createHostStore(pool),
      host: { hostId, name, capacity },
      lastHealth: healthMonitor.last,
      everyMs: host.renewMs,
      onRenewed: [fence.renewed, renewed],
      logger,
    },
    rpc: {
      ...common,
      store: createHostRpcStore(pool),
      notifications,
      handlers: { ...fileHandlers(supervisor), ...answerHandler(supervisor) },
    },
    close,
  };
}

/** Loads Temporal, and builds the task workers and the reconciler. */
async function loadTemporal({ common }: ReturnType<typeof buildSupervisor>) {
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
  const temporalIdentity = createTemporalIdentityStore(pool);
  const temporal = createTemporal(temporalOptions(temporalIdentity));
  const webhooks = createWebhookStore(pool, sealer);
  const activities = createActivities({
    ...common,
    supervisor: instrumentStarts(supervisor, telemetry.metrics),
    webhooks,
    admission: createAdmission(pool, sealer, host.staleMs),
    flows: createFlowStore(pool, sealer),
    temporal,
    runTimeoutMs: times.runTimeoutMs,
    sendWebhook: instrumentWebhooks(createWebhookSender(config.webhook), telemetry.metrics),
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
      temporalIdentity,
      retention: createRetentionStore(pool),
      listSandboxes: sandboxes.list,
      removeSandbox: supervisor.remove,
      removeOrphanedFolders: supervisor.removeOrphanedFolders,
      thresholds: reconcilerThresholds(times.reconcileEveryMs, host),
      retentionTimes: config.retention,
    }),
    verifyIdentity: temporal.verifyIdentity,
    async poll() {
      await temporal.verifyIdentity();
      await registerSearchAttributes(temporal, logger);
      return createWorker(options);
    },
    close: temporal.close,
  };
}

function temporalOptions({ remember }: TemporalIdentityStore) {
  return {
    ...config.temporal,
    instance: config.instance,
    publicUrl: config.publicUrl,
    known: { remember, onOther: (hint: string) => stopWithError('other_temporal', hint) },
    timeouts: {
      noCapacityMs: config.times.noCapacityTimeoutMs,
      hostScheduleToStartMs: config.times.hostLostMs,
      idleMs: config.times.sessionIdleMs,
      attendedIdleMs: config.times.sessionAttendedIdleMs,
      turnsPerHistory: config.times.sessionTurnsPerHistory,
    },
  };
}
