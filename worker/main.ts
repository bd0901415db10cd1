import { readWorkerConfig } from '../config/config.ts';
import { createLogger } from '../config/logger.ts';
import { createStopWithError, logProcess } from '../config/process-log.ts';
import { armFailpoint } from '../core/failpoint.ts';
import { hostThresholds } from '../core/hosts/host-thresholds.ts';
import { retryUntilAborted } from '../lib/async/retry.ts';
import { settlesWithin } from '../lib/async/timeout.ts';
import { findEarlierData } from '../systems/postgres/schema/earlier-data.ts';
import { createWorkerMetrics } from '../systems/prometheus/worker-metrics.ts';
import { watchIdentity } from '../systems/temporal/watch-identity.ts';
import { buildSupervisor, type SupervisedHost } from './build-supervisor.ts';
import { forceExitAfterGrace } from './force-exit.ts';
import { claimHost, hostIdTakenHint } from './host/claim-host.ts';
import { exitWhenLockLost, lockDataDir } from './host/data-dir-lock.ts';
import { runHeartbeat } from './host/heartbeat.ts';
import { serveHostRpc } from './host/rpc-server.ts';
import { noopMetrics } from './instrumentation.ts';
import { loadTasks } from './load-tasks.ts';
import { ignoreAbort, pollTasks } from './temporal/poll-tasks.ts';

const config = readWorkerConfig();
const metrics = config.metrics && createWorkerMetrics();
const onLine = metrics?.lineWritten;
const logger = createLogger({ level: config.logLevel, name: 'worker', onLine });
logProcess(logger);
if (config.failpoint) armFailpoint(config.failpoint, () => process.kill(process.pid, 'SIGKILL'));
/** How long a start waits for Temporal's identity. After that it continues, but polls no tasks. */
const identityWaitMs = 5_000;
const stopping = new AbortController();
const stopWithError = createStopWithError(logger, stopping);
const worker = {
  config,
  logger,
  metrics,
  telemetry: { metrics: metrics ?? noopMetrics, logger },
  host: hostThresholds(config.times.hostLostMs),
  stopWithError,
};
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
await main(stopping.signal);

function logUnavailable(error: unknown, attempt?: number): void {
  logger.warn({ err: error, attempt }, 'dependency_unavailable');
}

/** The folder is locked and the host's ID is claimed before any sandbox of the host is touched. */
async function main(signal: AbortSignal): Promise<void> {
  const earlierData = await findEarlierData(config.databaseUrl);
  if (earlierData !== null) return stopWithError('earlier_data_found', earlierData);
  const dataDirLock = lockDataDir(config.dataDir);
  const { hostId, owner } = dataDirLock;
  logger.info({ hostId, instance: config.instance }, 'worker_starting');
  exitWhenLockLost(dataDirLock, logger);
  const local = buildSupervisor(worker, { hostId, owner });
  const claim = await claimHost(local.claim, signal);
  if (claim === 'taken') stopWithError('host_id_taken', hostIdTakenHint(config.dataDir));
  if (claim === 'claimed') await work(local, signal);
  // Sandboxes keep running without this process.
  await local.supervisor.close();
  if (claim === 'claimed') await local.releaseHost().catch(logUnavailable);
  await local.close();
  dataDirLock.release();
  logger.info('worker_stopped');
  forceExitAfterGrace(logger);
}

/**
 * The order matters: existing sandboxes are adopted, then tasks are polled. Temporal is loaded only
 * then, because loading it takes as long as everything before, and agents wait for the adoption.
 */
async function work(local: SupervisedHost, signal: AbortSignal) {
  const metricsServer = config.metrics && (await metrics?.serve(config.metrics));
  const until = { signal, onFailure: logUnavailable };

  // An agent gives up on an unresponsive socket after three minutes.
  const adopt = async (): Promise<void> => {
    await local.losses.check(signal);
    await local.supervisor.adoptExisting();
  };
  await retryUntilAborted(adopt, until).catch(ignoreAbort(signal));
  const answering = serveHostRpc(local.rpc, signal);
  const taskWorkers = await loadTasks(worker, local);
  // A host of another Temporal sends no heartbeat, so nothing is placed on it.
  await settlesWithin(identityWaitMs, taskWorkers.verifyIdentity());
  const { onWaiting, isTemporalReachable } = taskWorkers;
  let isPolling = false;
  local.hintGate.watchTemporal(() => isPolling && !signal.aborted && isTemporalReachable());
  const presence = [
    runHeartbeat({ ...local.heartbeat, onWaiting }, signal),
    local.fence.run(signal),
  ];
  const loops = [
    ...presence,
    local.healthMonitor.run(signal),
    taskWorkers.reconciler.run(signal),
    watchIdentity(taskWorkers, logUnavailable, signal),
    answering,
  ];
  const polling = { poll: taskWorkers.poll, fence: local.fence, logger };
  await pollTasks({ ...polling, onPolling: (now) => (isPolling = now) }, signal);

  await Promise.all(loops);
  await taskWorkers.close();
  await metricsServer?.close();
}
