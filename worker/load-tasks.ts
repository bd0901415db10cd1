import { join } from 'node:path';
import { createFlowStore } from '../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../systems/postgres/admission/admission.ts';
import type { Sealer } from '../systems/postgres/admission/seal.ts';
import type { Pool } from '../systems/postgres/client/pool.ts';
import { createEventStore } from '../systems/postgres/endpoints/event-store.ts';
import { createJobStore } from '../systems/postgres/maintenance/job-store.ts';
import { createReconcileStore } from '../systems/postgres/maintenance/reconcile-store.ts';
import { createRetentionStore } from '../systems/postgres/maintenance/retention-store.ts';
import { createScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import {
  createTemporalIdentityStore,
  type TemporalIdentityStore,
} from '../systems/postgres/maintenance/temporal-identity-store.ts';
import { createWebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import { createMessageStore } from '../systems/postgres/sessions/message-store.ts';
import type { SupervisedHost, WorkerContext } from './build-supervisor.ts';
import { activityObserver, missedStartsObserver, type Telemetry } from './instrumentation.ts';
import { createReconciler } from './reconciler/reconciler.ts';
import { createWaitingRepairer } from './reconciler/runs/repair-waiting.ts';
import { reconcilerThresholds } from './reconciler/thresholds.ts';
import { registerSearchAttributes } from './temporal/register-search-attributes.ts';
import { createWebhookSender } from './webhook/send-webhook.ts';

/** Loads Temporal, and builds the task workers and the reconciler. */
export async function loadTasks(worker: WorkerContext, { common, diskNotice }: SupervisedHost) {
  const [{ createActivities }, { createTemporal }, runtime, { createWorker }, bundles] =
    await loadModules();
  const { hostId, pool, sealer, sandboxes, supervisor, runLogContext } = common;
  const { config, logger, telemetry, host } = worker;
  const { instance, capacity, times } = config;
  runtime.installTemporalRuntime(logger, config.temporalMetrics);
  const workflowBundle = await bundles.ensureWorkflowBundle({
    cacheDir: join(config.dataDir, 'cache'),
  });
  const temporalIdentity = createTemporalIdentityStore(pool);
  const temporal = createTemporal(temporalOptions(worker, temporalIdentity));
  const shared = { ...deliveryStores(pool, sealer), ...scheduleDeps(pool, telemetry) };
  const { slots, ...activities } = createActivities({
    ...common,
    ...shared,
    admission: createAdmission(pool, sealer, host.staleMs),
    flows: createFlowStore(pool, sealer),
    temporal,
    diskNotice,
    runTimeoutMs: times.runTimeoutMs,
    sendWebhook: createWebhookSender(config.webhook),
    ...activityObserver(telemetry),
  });
  const jobs = createJobStore(pool);
  const waiting = createWaitingRepairer({ ...common, jobs, slots, everyMs: host.renewMs });
  const beforePolling = async (): Promise<void> => {
    await temporal.verifyIdentity();
    await registerSearchAttributes(temporal, logger);
  };
  const queues = { instance, hostId, capacity, ...config.temporal };
  const options = { ...queues, activities, workflowBundle, logger, runLogContext };
  return {
    reconciler: createReconciler({
      ...common,
      ...shared,
      messages: createMessageStore(pool, host.staleMs),
      temporal,
      jobs,
      reconcile: createReconcileStore(pool),
      temporalIdentity,
      retention: createRetentionStore(pool),
      listSandboxes: () => sandboxes.list(),
      // `removeOrphanedFolders` removes its folders unless they have files to store.
      removeSandbox: (ref) => supervisor.remove(ref, { keepFolders: true }),
      removeOrphanedFolders: supervisor.removeOrphanedFolders,
      thresholds: reconcilerThresholds(times.reconcileEveryMs, host),
      retentionTimes: config.retention,
    }),
    verifyIdentity: temporal.verifyIdentity,
    isTemporalReachable: temporal.isReachable,
    poll: () => createWorker({ ...options, beforePolling }),
    onWaiting: waiting.trigger,
    async close() {
      await waiting.close();
      await temporal.close();
    },
  };
}

const deliveryStores = (pool: Pool, sealer: Sealer) => ({
  webhooks: createWebhookStore(pool, sealer),
  events: createEventStore(pool, sealer),
});

/** Temporal's packages take seconds to load; meanwhile the host already serves its sandboxes. */
const loadModules = () =>
  Promise.all([
    import('../activities/index.ts'),
    import('../systems/temporal/client.ts'),
    import('./temporal/runtime.ts'),
    import('./temporal/workers.ts'),
    import('./temporal/workflow-bundle.ts'),
  ]);

const scheduleDeps = (pool: Pool, telemetry: Telemetry) => ({
  schedules: createScheduleStore(pool),
  ...missedStartsObserver(telemetry),
});

const temporalOptions = (
  { config, stopWithError }: WorkerContext,
  { remember }: TemporalIdentityStore,
) => ({
  ...config.temporal,
  instance: config.instance,
  publicUrl: config.publicUrl,
  storedIdentity: { remember, onMismatch: (hint: string) => stopWithError('other_temporal', hint) },
  timeouts: config.workflowTimeouts,
});
