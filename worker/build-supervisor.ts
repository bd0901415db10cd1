import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { WorkerConfig } from '../config/config.ts';
import type { HostThresholds } from '../core/hosts/host-thresholds.ts';
import { createSealer, type Sealer } from '../systems/postgres/admission/seal.ts';
import type { Pool } from '../systems/postgres/client/pool.ts';
import {
  createHostLeaseStore,
  type HostLease,
} from '../systems/postgres/hosts/host-lease-store.ts';
import { createHostRpcStore } from '../systems/postgres/hosts/host-rpc-store.ts';
import { createHostStore } from '../systems/postgres/hosts/host-store.ts';
import { createLossStore } from '../systems/postgres/hosts/known-database.ts';
import { createFrameStore } from '../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../systems/postgres/runs/run-store.ts';
import { createTurnStore } from '../systems/postgres/sessions/turn-store.ts';
import type { createWorkerMetrics } from '../systems/prometheus/worker-metrics.ts';
import { purgeRuns } from '../systems/redis/purge-runs.ts';
import { readCommits } from '../systems/redis/read-commits.ts';
import { connect, sandboxStores } from './connect.ts';
import { exitHostIdTaken } from './host/claim-host.ts';
import { hostCpus } from './host/cpu-pressure.ts';
import { createLossDetector } from './host/detect-loss.ts';
import type { HeartbeatOptions } from './host/heartbeat.ts';
import { createHintGate } from './host/hint-gate.ts';
import { answerHandler, fileHandlers } from './host/rpc-handlers.ts';
import { createSelfFence } from './host/self-fence.ts';
import { runObserver, sandboxObserver, type Telemetry } from './instrumentation.ts';
import { createRenewalStreak } from './reconciler/hosts/renewal-streak.ts';
import { createRunLogContext } from './run-log-context.ts';
import { createSupervisor, type Supervisor } from './sandbox/supervisor.ts';

/** Shared by everything that the process builds. */
export interface WorkerContext {
  config: WorkerConfig;
  logger: Logger;
  telemetry: Telemetry;
  /** Null if no metrics are served. */
  metrics: ReturnType<typeof createWorkerMetrics> | null;
  host: HostThresholds;
  stopWithError(event: string, hint: string): void;
}

export type SupervisedHost = ReturnType<typeof buildSupervisor>;

/** Builds the supervisor of this host's sandboxes and its dependencies. Does not need Temporal. */
export function buildSupervisor(worker: WorkerContext, lease: HostLease) {
  const { config, logger, telemetry, metrics, host } = worker;
  const { hostId } = lease;
  const connected = connect(config, telemetry);
  const { pools, frameStream, presence, notifications, sandboxes, healthMonitor, egress, close } =
    connected;
  const { pool, heartbeatPool, leasePool } = pools;
  const sealer = createSealer(config.encryptionKey);
  const runs = createRunStore(pool, sealer, runObserver(telemetry));
  const turns = createTurnStore(pool, host.staleMs);
  const now = (): Date => new Date();
  const runLogContext = createRunLogContext(runs);
  const common = { hostId, runs, runLogContext, frameStream, logger, now };
  const { fence, hintGate, ...fencing } = fenceOf(worker, connected, { hostId, sealer });
  const supervisor = createSupervisor({
    ...common,
    sandboxes,
    notifications,
    ...fencing,
    egress,
    dataDir: config.dataDir,
    diskReserve: config.diskReserve,
    projectQuotas: connected.projectQuotas,
    hostModel: config.hostModel,
    image: config.sandboxImage,
    frames: createFrameStore(pool, leasePool),
    ...sandboxStores(pool, sealer),
    turns,
    modelPrices: config.modelPrices,
    ...sandboxObserver(telemetry, config.modelPrices),
    times: config.times,
    pauseAfterMs: config.times.sessionPauseAfterMs,
    bounds: config.sandboxLimits,
    ...hostCpus(),
    newId: randomUUID,
  });
  metrics?.watch({ pools: pools.all, ...slotsOf(config, supervisor) });
  const { renewed, forMs: renewedForMs } = createRenewalStreak({ gapMs: host.staleMs / 2, now });
  return {
    fence,
    hintGate,
    healthMonitor,
    diskNotice: connected.diskNotice,
    common: { ...common, pool, sealer, sandboxes, supervisor, turns, presence, renewedForMs },
    supervisor,
    ...registrationOf(worker, {
      lease,
      pool: heartbeatPool,
      lastHealth: healthMonitor.last,
      onRenewed: [fence.renewed, renewed],
    }),
    rpc: {
      ...common,
      store: createHostRpcStore(pool),
      notifications,
      handlers: { ...fileHandlers(supervisor), ...answerHandler(supervisor) },
    },
    close,
  };
}

/** Fencing reads from Postgres through the connections of the heartbeat. */
function fenceOf(
  { logger, host: times }: WorkerContext,
  { pools, sandboxes, egress }: ReturnType<typeof connect>,
  { hostId, sealer }: { hostId: string; sealer: Sealer },
) {
  const { activeOnHost } = createRunStore(pools.heartbeatPool, sealer);
  const fenced = { hostId, runs: { activeOnHost }, sandboxes, egress, logger };
  const fence = createSelfFence({ ...fenced, times });
  const hintGate = createHintGate(fence);
  const isFenced = (): boolean => fence.fencedSignal().aborted;
  return { fence, hintGate, mayActOnHints: hintGate.isOpen, isFenced };
}

const slotsOf = ({ capacity }: WorkerConfig, { live, countWaitingStarts }: Supervisor) => ({
  capacity,
  countSandboxes: () => live().length,
  countWaitingStarts,
});

interface Registration extends Pick<HeartbeatOptions, 'lastHealth' | 'onRenewed'> {
  lease: HostLease;
  pool: Pool;
}

/** Claims the host's ID, and keeps it with the heartbeat. */
function registrationOf(
  { config, logger, host }: WorkerContext,
  { lease, pool, ...options }: Registration,
) {
  const leases = createHostLeaseStore(pool);
  const instance = { ...config.redis, instance: config.instance };
  const losses = createLossDetector({
    losses: createLossStore(pool),
    hostId: lease.hostId,
    dataDir: config.dataDir,
    readCommits: () => readCommits(instance),
    purgeStreams: () => purgeRuns(instance),
    logger,
  });
  const leaseMs = 2 * host.renewMs;
  const { capacity, hostName: name, hostModel: model, dataDir } = config;
  return {
    losses,
    // Longer than usual, because the heartbeat begins only after existing sandboxes are adopted.
    claim: { leases, lease, leaseMs: host.staleMs, watchMs: leaseMs, logger },
    heartbeat: {
      ...options,
      losses,
      hosts: createHostStore(pool),
      host: { ...lease, leaseMs, name, capacity, model },
      everyMs: host.renewMs,
      onTaken: () => exitHostIdTaken(dataDir, logger),
      logger,
    },
    releaseHost: () => leases.release(lease),
  };
}
