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
import type { Store } from './tls-diagnosis.ts';

/** Something that is wrong. */
export interface Problem {
  /** Stays the same, for scripts and for the pages of advice. */
  code: string;
  /** What is wrong, as a sentence. */
  what: string;
  /** What to do about it. */
  advice: string;
  /** Safe to do without asking: nothing but what a worker would do, too. */
  mend?: () => Promise<void>;
}

export interface CheckResult {
  /** What was seen, in a few words each. */
  said: string[];
  troubles: Problem[];
  /** Why nothing could be looked at from here; null where it was. */
  skipped: string | null;
}

export interface Check {
  name: string;
  /** Other checks without whose subject this one can see nothing. */
  needs: string[];
  /** Checks that must be well before anything is mended: those that show the surroundings to be right. */
  mendNeeds?: string[];
  look(parts: DoctorContext): Promise<CheckResult>;
  /** What is wrong where looking fails, without its full stop: the error is added. */
  ifItFails: Pick<Problem, 'code' | 'what' | 'advice'>;
  /** What it asks: where that fails, the handshake with it may say more. */
  store?: Store;
}

export const checked = (said: string[], ...troubles: Problem[]): CheckResult => ({
  said,
  troubles,
  skipped: null,
});

export const skipped = (skipped: string): CheckResult => ({ said: [], troubles: [], skipped });

/** `1 run`, `2 runs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

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
