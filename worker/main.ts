import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readWorkerConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { createEngine } from '../systems/docker/engine.ts';
import { createSandboxes } from '../systems/docker/sandbox.ts';
import { createAdmission } from '../systems/postgres/admission.ts';
import { createBlobStore } from '../systems/postgres/blob-store.ts';
import { createConfigStore } from '../systems/postgres/config-store.ts';
import { createFileStore } from '../systems/postgres/file-store.ts';
import { createFlowStore } from '../systems/postgres/flow-store.ts';
import { createFrameStore } from '../systems/postgres/frame-store.ts';
import { createHostStore } from '../systems/postgres/host-store.ts';
import { createPool } from '../systems/postgres/pool.ts';
import { createReconcileStore } from '../systems/postgres/reconcile-store.ts';
import { createRunStore } from '../systems/postgres/run-store.ts';
import { createSealer } from '../systems/postgres/seal.ts';
import { createWebhookStore } from '../systems/postgres/webhook-store.ts';
import { connectRedis } from '../systems/redis/connect.ts';
import { createFrameStream } from '../systems/redis/frame-stream.ts';
import { createEgress } from './egress/egress.ts';
import { type DataFolder, takeDataFolder } from './host.ts';
import { keepHostRow } from './host-row.ts';
import { createReconciler } from './reconciler/reconciler.ts';
import { reconcilerTimes } from './reconciler/times.ts';
import { createSupervisor } from './supervisor/supervisor.ts';
import { insist } from './supervisor/wait.ts';
import { createWebhookSender } from './webhook/send-webhook.ts';

const config = readWorkerConfig();
const logger = createLogger({ level: config.logLevel, name: 'worker' });
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'uncaught');
  process.exit(1);
});
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
/** A tailer for each sandbox, an activity or two, the reconciler. */
const poolSize = 20;
const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

function logNotYet(error: unknown, attempt: number): void {
  logger.warn({ err: error, attempt }, 'not_yet');
}

/** Whoever is told to stop gives up waiting, and that is no failure. */
function unlessStopping(signal: AbortSignal) {
  return (error: unknown) => {
    if (!signal.aborted) throw error;
    return null;
  };
}

/**
 * The order matters: the folder is ours, then the sandboxes are heard again, then work is taken. What
 * takes work is only loaded then, which takes as long as all before it: no agent waits for that.
 */
async function main(signal: AbortSignal): Promise<void> {
  const folder = takeDataFolder(config.dataDir);
  logger.info({ hostId: folder.hostId, instance: config.instance }, 'worker_starting');
  watchFolder(folder);
  const home = buildHome(folder.hostId);
  const until = { signal, onFailure: logNotYet };

  // The agents inside give up on a silent socket after three minutes.
  await insist(() => home.supervisor.resume(), until).catch(unlessStopping(signal));
  const work = await loadWork(home);
  const loops = [keepHostRow(home.hostRow, signal), work.reconciler.run(signal)];
  while (!signal.aborted) {
    const worker = await insist(work.poll, until).catch(unlessStopping(signal));
    if (!worker) break;
    logger.info('worker_ready');
    signal.addEventListener('abort', worker.stop, { once: true });
    await worker.stopped.catch((error: unknown) => logger.error({ err: error }, 'polling_ended'));
  }

  // Whatever runs in a sandbox goes on without us.
  await Promise.all(loops);
  await home.supervisor.close();
  await work.close();
  await home.close();
  folder.release();
  logger.info('worker_stopped');
}

/**
 * A process that was frozen while its folder was given to another has nothing more to say: it goes
 * before it can take from the other what both call theirs.
 */
function watchFolder(folder: DataFolder): void {
  const watch = setInterval(() => {
    if (folder.isHeld()) return;
    logger.fatal({ hostId: folder.hostId }, 'data_folder_lost');
    process.exit(1);
  }, limits.dataFolderCheckMs);
  watch.unref();
}

/** What looks after this host's sandboxes, apart from any task. */
function buildHome(hostId: string) {
  const { pool, redis, frameStream, sandboxes, egress } = connect();
  const sealer = createSealer(config.encryptionKey);
  const runs = createRunStore(pool, sealer);
  const now = (): Date => new Date();
  const common = { hostId, runs, frameStream, logger, now };
  const supervisor = createSupervisor({
    ...common,
    sandboxes,
    egress,
    dataDir: config.dataDir,
    image: config.sandboxImage,
    configs: createConfigStore(pool, sealer),
    frames: createFrameStore(pool),
    files: createFileStore(pool),
    flows: createFlowStore(pool, sealer),
    blobs: createBlobStore(pool),
    times: config.times,
    newId: randomUUID,
  });
  const { capacity, hostName: name } = config;
  return {
    common: { ...common, pool, sealer, sandboxes, supervisor },
    supervisor,
    hostRow: { hosts: createHostStore(pool), host: { hostId, name, capacity }, logger },
    close: async () => {
      await egress.close();
      frameStream.close();
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
      import('./temporal-runtime.ts'),
      import('./worker.ts'),
      import('./workflow-bundle.ts'),
    ]);
  const { hostId, pool, sealer, sandboxes, supervisor } = common;
  const { instance, capacity, times } = config;
  runtime.installTemporalRuntime(logger);
  const workflowBundle = await bundles.ensureWorkflowBundle({
    cacheDir: join(config.dataDir, 'cache'),
  });
  const temporal = createTemporal({
    ...config.temporal,
    instance,
    times: { noCapacityMs: times.noCapacityTimeoutMs },
  });
  const webhooks = createWebhookStore(pool, sealer);
  const activities = createActivities({
    ...common,
    webhooks,
    admission: createAdmission(pool, sealer),
    sendWebhook: createWebhookSender(config.webhook),
  });
  const options = { instance, hostId, capacity, ...config.temporal, activities, workflowBundle };
  return {
    reconciler: createReconciler({
      ...common,
      webhooks,
      temporal,
      reconcile: createReconcileStore(pool),
      listSandboxes: sandboxes.list,
      removeSandbox: supervisor.remove,
      sweepSandboxes: supervisor.sweep,
      times: reconcilerTimes(times.reconcileEveryMs),
    }),
    poll: () => createWorker(options),
    close: temporal.close,
  };
}

/** What is outside: none of it has to be there yet. */
function connect() {
  const { instance } = config;
  const name = `${instance}-worker`;
  const onError = (error: Error): void => logger.warn({ err: error }, 'connection_lost');
  const redis = connectRedis({ url: config.redisUrl, name, onError });
  return {
    redis,
    frameStream: createFrameStream(redis, { instance, onError }),
    pool: createPool(config.databaseUrl, { applicationName: name, max: poolSize, onError }),
    sandboxes: createSandboxes(createEngine({ dockerHost: config.dockerHost, instance })),
    egress: createEgress({
      model: config.model,
      allowPrivate: config.egress.allowPrivate,
      logger,
    }),
  };
}
