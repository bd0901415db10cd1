import type { AuditActor } from '../core/audit/audit-entry.ts';
import type { ScheduledFlow, scheduleState } from '../core/flows/schedule-state.ts';
import type { PriceList } from '../core/metering/model-prices.ts';
import type { RecordedChange } from '../systems/postgres/accounts/audit-log.ts';
import type { FlowStore } from '../systems/postgres/accounts/flow-store.ts';
import type { FlowVersionStore } from '../systems/postgres/accounts/flow-version-store.ts';
import type { KeyStore } from '../systems/postgres/accounts/key-store.ts';
import type { OperatorStore } from '../systems/postgres/accounts/operator-store.ts';
import type { OperatorTokenStore } from '../systems/postgres/accounts/operator-token-store.ts';
import type { ProjectStore } from '../systems/postgres/accounts/project-store.ts';
import type { EndpointStore } from '../systems/postgres/endpoints/endpoint-store.ts';
import type { EventStore } from '../systems/postgres/endpoints/event-store.ts';
import type { HostStore } from '../systems/postgres/hosts/host-store.ts';
import type { TemporalIdentityStore } from '../systems/postgres/maintenance/temporal-identity-store.ts';
import type { Temporal } from '../systems/temporal/client.ts';
import type { Backups } from './backups.ts';
import type { DoctorContext } from './doctor/types.ts';
import type { Validators } from './validators.ts';

export type ChangeSource = Exclude<AuditActor['source'], 'api'>;

export interface Stores {
  projects: ProjectStore;
  flows: FlowStore;
  flowVersions: FlowVersionStore;
  keys: KeyStore;
  operators: OperatorStore;
  operatorTokens: OperatorTokenStore;
  hosts: HostStore;
  /** Throws if it is a text that is not the ID of a known host. */
  checkRunner(runner: unknown): Promise<void>;
  endpoints: EndpointStore;
  events: Pick<EventStore, 'find' | 'page'>;
  /** Makes a change with its entry in the audit log. Other stores wait until it ends. */
  change<T>(work: (on: RecordedChange) => Promise<T>, source?: ChangeSource): Promise<T>;
  /** The URL of the API, for links. */
  publicUrl: string;
  /** The URL of the API for this process. */
  apiUrl: string;
  /** The name of the first operator. */
  firstOperator: string;
  /** An API key that can be shown again, because it is always the same for a purpose. */
  deriveKey(purpose: string): string;
  modelPrices: PriceList;
  /** Private networks that webhooks may be sent to. */
  webhookAllowPrivate: readonly string[];
  /** Locked until the command ends, so that two commands create nothing twice. */
  lockInitialResources(): Promise<void>;
}

/** The Temporal that the database belongs to, and the configured one. */
export interface TemporalIdentities
  extends Pick<TemporalIdentityStore, 'find' | 'adopt' | 'countActiveWorkflows'> {
  /** The identity of the configured one. */
  read: Temporal['identity'];
}

/** The schedules of flows, in the database and in Temporal. */
export interface Schedules {
  findFlow: FlowStore['find'];
  readState(flow: ScheduledFlow): Promise<ReturnType<typeof scheduleState>>;
}

/** The dependencies of the commands; tests replace them. */
export interface CliDeps {
  /** Reads an argument that names a flow, key, endpoint or event. */
  parseReference(text: string): string;
  loadValidators(): Promise<Validators>;
  withStores<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  withTemporal<T>(work: (identities: TemporalIdentities) => Promise<T>): Promise<T>;
  withSchedules<T>(work: (schedules: Schedules) => Promise<T>): Promise<T>;
  withDoctor<T>(work: (context: DoctorContext) => Promise<T>): Promise<T>;
  migrate(): Promise<void>;
  /** One sentence for each that was missing. */
  createInitialResources(): Promise<string[]>;
  backups(): Promise<Backups>;
}
