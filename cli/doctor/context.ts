import type { DoctorConfig } from '../../config/doctor-config.ts';
import type { Engine } from '../../systems/docker/engine.ts';
import type { Sandboxes } from '../../systems/docker/sandbox.ts';
import type { SchemaState } from '../../systems/postgres/client/probe.ts';
import type { HostStore } from '../../systems/postgres/hosts/host-store.ts';
import type { ReconcileStore } from '../../systems/postgres/maintenance/reconcile-store.ts';
import type {
  Due,
  KeptTimes,
  TableSize,
} from '../../systems/postgres/maintenance/retention-stats.ts';
import type { ScheduleStore } from '../../systems/postgres/maintenance/schedule-store.ts';
import type { RunStore } from '../../systems/postgres/runs/run-store.ts';
import type { MessageStore } from '../../systems/postgres/sessions/message-store.ts';
import type { Temporal } from '../../systems/temporal/client.ts';
import type { TemporalProbe } from '../../systems/temporal/probe.ts';
import type { Store } from './handshake-targets.ts';
import type { Problem } from './types.ts';

/** What the doctor looks at; null is what it was not told of. */
export interface DoctorContext {
  config: Readonly<DoctorConfig>;
  postgres: {
    version(): Promise<string>;
    schema(): Promise<SchemaState>;
    clockAheadMs(): Promise<number>;
    /** Null where there is nothing to try the key on. */
    opensSecrets(): Promise<boolean | null>;
  };
  hosts: Pick<HostStore, 'list'>;
  runs: Pick<RunStore, 'find' | 'liveOnHost'>;
  reconcile: Pick<
    ReconcileStore,
    'unstarted' | 'causesWithoutEnd' | 'liveRuns' | 'undeliveredWebhooks' | 'unknownWorkflows'
  >;
  messages: Pick<MessageStore, 'unsignalled'>;
  schedules: Pick<ScheduleStore, 'untold'>;
  retention: {
    rows(kept: KeptTimes): Promise<Due[]>;
    blobs(kept: KeptTimes): Promise<Due & { bytes: number }>;
    largestTables(limit: number): Promise<TableSize[]>;
  };
  redis: { version(): Promise<string | null> } | null;
  /** What is wrong with the way to a store that did not answer but with this error; null where TLS is not. */
  handshake(store: Store, error: unknown): Promise<Problem | null>;
  temporal:
    | (Pick<Temporal, 'describe' | 'openWorkflows'> &
        Pick<TemporalProbe, 'facts' | 'missingSearchAttributes'>)
    | null;
  docker:
    | (Pick<Engine, 'version' | 'imageId' | 'findRuntime'> & Pick<Sandboxes, 'list' | 'remove'>)
    | null;
  /** What the API answers; throws where none does. */
  readiness(): Promise<{ status: number; failed: string[] }>;
  mends: Fixes;
  /** Looks again are this far apart: what a worker is just about is no trouble. */
  settle(): Promise<void>;
}

/** The steps of the reconciler, each over everything there is; safe to repeat, and beside a worker. */
export interface Fixes {
  registerSearchAttributes(): Promise<void>;
  startUnstarted(): Promise<void>;
  nudgeEndings(): Promise<void>;
  endClosed(runIds: string[]): Promise<void>;
  signalMessages(): Promise<void>;
  tellSchedules(): Promise<void>;
  deliverWebhooks(): Promise<void>;
  sweep(kept: KeptTimes): Promise<void>;
}
