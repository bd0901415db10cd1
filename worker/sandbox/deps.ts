import type { Logger } from 'pino';
import type { HostModel } from '../../core/hosts/host-model.ts';
import { limits } from '../../core/limits.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import type { PriceList } from '../../core/metering/model-prices.ts';
import type { ModelErrorType } from '../../core/model/model-error-type.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import type { FlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import type { ProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import type { RunConfigStore } from '../../systems/postgres/admission/run-config-store.ts';
import type { BlobStore } from '../../systems/postgres/files/blob-store.ts';
import type { FileStore } from '../../systems/postgres/files/file-store.ts';
import type { FrameStore } from '../../systems/postgres/log/frame-store.ts';
import type { InteractionStore } from '../../systems/postgres/runs/interaction-store.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { SessionStore } from '../../systems/postgres/sessions/session-store.ts';
import type { TurnStore } from '../../systems/postgres/sessions/turn-store.ts';
import type { FrameStream } from '../../systems/redis/frame-stream.ts';
import type { Notifications } from '../../systems/redis/notifications.ts';
import type { SandboxRef, StartOutcome } from '../../workflows/shared/activities.ts';
import type { Egress } from '../egress/run-listener.ts';
import type { ProjectQuotas } from '../host/quota/project-quotas.ts';
import type { RunLogContext } from '../run-log-context.ts';
import type { LeaseRenewer } from './output/lease-renewer.ts';
import type { StartLimiter, StartLimiterDeps } from './start/start-limiter.ts';
import type { DiskUsage } from './workspace/disk-usage.ts';

/** Receives the events that are measured. */
export interface SandboxObserver {
  /**
   * Called when the start of a sandbox has ended. A start by a hint counts only if it has
   * succeeded, because the activity repeats it otherwise.
   */
  onSandboxStart(outcome: StartOutcome | 'failed', tookMs: number): void;
  /** From storing the message to the first start of its turn. */
  onTurnStarted(waitedMs: number): void;
  /** How long the start of a sandbox waited for other starts. */
  onPermitGranted(waitedMs: number): void;
  onBatchStored(batch: { frames: number; bytes: number; tookMs: number }): void;
  /** Called once per model call, when it has ended. */
  onModelCall(call: LedgerEntry): void;
  /** Called once per model call that the gateway does not forward. */
  onModelCallRefused(reason: ModelErrorType): void;
}

/** The parts of the process that the modules of one sandbox use. */
export interface SandboxDeps extends SandboxObserver {
  hostId: string;
  hostModel: HostModel;
  dataDir: string;
  /** Free space and inodes of its disk that no sandbox may use. */
  diskReserve: DiskUsage;
  projectQuotas: ProjectQuotas;
  /** For flows that set no image. */
  image: string;
  sandboxes: Sandboxes;
  runs: Pick<
    RunStore,
    | 'find'
    | 'sandboxPlan'
    | 'markStarted'
    | 'claimOfflineModel'
    | 'recordCause'
    | 'activeOnHost'
    | 'recordSnapshot'
    | 'neededOnHost'
  >;
  configs: Pick<RunConfigStore, 'read' | 'acknowledge'>;
  flows: Pick<FlowStore, 'readSecrets'>;
  sessions: Pick<SessionStore, 'readConfig' | 'acknowledgeConfig'>;
  turns: Pick<
    TurnStore,
    | 'markStarted'
    | 'claim'
    | 'currentTurn'
    | 'failCurrentTurn'
    | 'releaseSandbox'
    | 'hasWork'
    | 'findNext'
    | 'listTranscript'
    | 'beginSave'
    | 'saveState'
    | 'pendingFiles'
    | 'markFilesWritten'
    | 'discardFile'
    | 'rejectTurn'
  >;
  projects: Pick<ProjectStore, 'readModel' | 'usedUpQuota'>;
  ledger: LedgerStore;
  /** The operator's prices. They take precedence over the list prices. */
  modelPrices: PriceList;
  frames: Pick<
    FrameStore,
    'takeLease' | 'renewLease' | 'renewLeases' | 'beginGeneration' | 'append' | 'appendOwn'
  >;
  files: Pick<FileStore, 'replaceSnapshot' | 'listSeed' | 'listRespawn'>;
  interactions: Pick<InteractionStore, 'record' | 'open'>;
  blobs: Pick<BlobStore, 'put' | 'has' | 'read' | 'readSmall'>;
  frameStream: Pick<FrameStream, 'publish' | 'publishFileTree' | 'expire' | 'notify'>;
  notifications: Pick<Notifications, 'subscribeBestEffort'>;
  /** False at shutdown, while the host is fenced, and while Temporal does not answer. */
  mayActOnHints(): boolean;
  /** True while this host has paused its sandboxes because it cannot reach Postgres. */
  isFenced(): boolean;
  egress: Egress;
  /** The agent token of a sandbox. */
  createAgentToken(ref: SandboxRef): string;
  times: { stallTimeoutMs: number; afterResultGraceMs: number; leaseMs: number };
  bounds?: Partial<SupervisorBounds>;
  /** How long an idle session's agent keeps running before it is paused. */
  pauseAfterMs?: number;
  logger: Logger;
  runLogContext: RunLogContext;
  now(): Date;
  newId(): string;
  /**
   * Runs work that stores or removes a run's files, one at a time per run. So the last one to read
   * the files is the last one to store them.
   */
  withFilesLock<T>(runId: string, work: () => Promise<T>): Promise<T>;
  startLimiter: StartLimiter;
  leaseRenewer: LeaseRenewer;
}

/** The supervisor adds the lock, the limiter and the renewer. */
export type SupervisorDeps = Omit<SandboxDeps, 'withFilesLock' | 'startLimiter' | 'leaseRenewer'> &
  Pick<StartLimiterDeps, 'cpus' | 'cpuPressure'>;

/** The resources of a sandbox, and how much of its output this process buffers. */
interface SupervisorBounds {
  spoolBytes: number;
  unreadableMs: number;
  workspaceBytes: number;
  workspaceInodes: number;
  lineBytes: number;
  chunkBytes: number;
  batchLines: number;
  batchBytes: number;
}

export function boundsOf({ bounds }: Pick<SandboxDeps, 'bounds'>): SupervisorBounds {
  return {
    spoolBytes: limits.spool.maxBytes,
    unreadableMs: limits.spool.unreadableMs,
    workspaceBytes: limits.sandbox.workspaceMaxBytes,
    workspaceInodes: limits.sandbox.workspaceMaxInodes,
    lineBytes: limits.spool.lineMaxBytes,
    chunkBytes: limits.spool.readChunkBytes,
    batchLines: 1_000,
    batchBytes: 4 * 1024 ** 2,
    ...bounds,
  };
}
