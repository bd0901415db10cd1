import type { DoctorConfig } from '../../config/doctor-config.ts';
import type { RedisMemory } from '../../core/redis-memory.ts';
import type { Engine } from '../../systems/docker/engine.ts';
import type { RuntimeSelector } from '../../systems/docker/runtime/runtime-selector.ts';
import type { Sandboxes } from '../../systems/docker/sandboxes.ts';
import type { ProjectStorage } from '../../systems/postgres/accounts/stored-bytes.ts';
import type { ConnectionUse } from '../../systems/postgres/client/connection-use.ts';
import type { EventStore } from '../../systems/postgres/endpoints/event-store.ts';
import type { HostStore } from '../../systems/postgres/hosts/host-store.ts';
import type { ReconcileStore } from '../../systems/postgres/maintenance/reconcile-store.ts';
import type {
  Overdue,
  RetentionTimes,
  TableSize,
} from '../../systems/postgres/maintenance/retention-stats.ts';
import type { ScheduleStore } from '../../systems/postgres/maintenance/schedule-store.ts';
import type { TemporalIdentityStore } from '../../systems/postgres/maintenance/temporal-identity-store.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { SchemaState } from '../../systems/postgres/schema/schema-state.ts';
import type { MessageStore } from '../../systems/postgres/sessions/message-store.ts';
import type { Temporal } from '../../systems/temporal/client.ts';
import type { TemporalProbe } from '../../systems/temporal/probe.ts';

export type Store = 'postgres' | 'redis' | 'temporal';

export interface Problem {
  /** Stable: scripts and docs/troubleshooting.md refer to it. */
  code: string;
  /** What is wrong, as a full sentence. */
  message: string;
  /** What to do about it. */
  advice: string;
  /** The service works as it is. The check passes. */
  isWarning?: true;
  /** Only present if it is safe to run unasked: it does what a worker would do. */
  fix?: () => Promise<void>;
}

export interface CheckResult {
  /** Observations, a few words each. */
  facts: string[];
  problems: Problem[];
  /** Why the check could not run from here; null if it ran. */
  skipReason: string | null;
}

export interface Check {
  name: string;
  /** Checks that have to pass before this one can run. */
  needs: string[];
  /**
   * Checks that have to pass before a fix: they show that the settings are those of the service.
   */
  fixNeeds?: string[];
  run(context: DoctorContext): Promise<CheckResult>;
  /** The problem if `run` throws. Its message has no full stop, because the error is appended. */
  onError: Pick<Problem, 'code' | 'message' | 'advice'>;
  /** The store that the check queries. If that fails, a TLS handshake may show why. */
  store?: Store;
}

export const checked = (facts: string[], ...problems: Problem[]): CheckResult => ({
  facts,
  problems,
  skipReason: null,
});

export const skipped = (skipReason: string): CheckResult => ({
  facts: [],
  problems: [],
  skipReason,
});

export const withoutDocker = skipped('neither DOCKER_HOST nor DATA_DIR is set here');
export const withoutTemporal = skipped('TEMPORAL_ADDRESS is not set here');

/** `1 run`, `2 runs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

export interface ApiReadiness {
  status: number;
  /** The names of the failed dependencies. */
  failed: string[];
  /** Null if the API does not know it. */
  postgresDisk: { freeBytes: number; reserveBytes: number } | null;
}

/** Everything that the checks query; null if it is not configured here. */
export interface DoctorContext {
  config: Readonly<DoctorConfig>;
  postgres: {
    version(): Promise<string>;
    schema(): Promise<SchemaState>;
    clockAheadMs(): Promise<number>;
    connectionUse(): Promise<ConnectionUse>;
    mayCreateTemporaryTables(): Promise<boolean>;
    /** Null if nothing has been encrypted yet. */
    opensSecrets(): Promise<boolean | null>;
  };
  hosts: Pick<HostStore, 'list'>;
  projects: { nearQuota(part: number): Promise<ProjectStorage[]> };
  runs: Pick<RunStore, 'find' | 'activeOnHost'>;
  reconcile: Pick<
    ReconcileStore,
    'unstarted' | 'unfinishedStops' | 'activeRuns' | 'pendingWebhooks' | 'unknownWorkflows'
  >;
  temporalIdentity: Pick<TemporalIdentityStore, 'find'>;
  messages: Pick<MessageStore, 'unsignalled'>;
  schedules: Pick<ScheduleStore, 'unsynced'>;
  events: Pick<EventStore, 'unstarted'>;
  retention: {
    rows(times: RetentionTimes): Promise<Overdue[]>;
    blobs(times: RetentionTimes): Promise<Overdue & { bytes: number }>;
    largestTables(limit: number): Promise<TableSize[]>;
  };
  redis: { version(): Promise<string | null>; memory(): Promise<RedisMemory | null> } | null;
  /** The TLS problem behind a store's error; null if TLS is not the cause. */
  diagnoseTls(store: Store, error: unknown): Promise<Problem | null>;
  temporal:
    | (Pick<Temporal, 'describe' | 'openWorkflows' | 'identity'> &
        Pick<TemporalProbe, 'facts' | 'missingSearchAttributes'>)
    | null;
  docker:
    | (Pick<Engine, 'version' | 'imageId'> &
        Pick<RuntimeSelector, 'findRuntime'> &
        Pick<Sandboxes, 'list' | 'remove'>)
    | null;
  /** The API's own readiness; throws if no API responds. */
  readiness(): Promise<ApiReadiness>;
  fixes: Fixes;
  /** Rechecks after this delay, so that work in progress is not reported as a problem. */
  settle(): Promise<void>;
}

/** The reconciler's steps, each over all rows. Safe to repeat, and safe while a worker runs. */
export interface Fixes {
  registerSearchAttributes(): Promise<void>;
  startUnstarted(): Promise<void>;
  resendStops(): Promise<void>;
  endClosedRuns(runIds: string[]): Promise<void>;
  signalMessages(): Promise<void>;
  syncSchedules(): Promise<void>;
  deliverWebhooks(): Promise<void>;
  startEvents(): Promise<void>;
  applyRetention(times: RetentionTimes): Promise<void>;
}
