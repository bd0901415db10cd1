import type { FastifyBaseLogger } from 'fastify';
import type { PriceList } from '../core/metering/model-prices.ts';
import type { AuditLog } from '../systems/postgres/accounts/audit-log.ts';
import type { FlowStore } from '../systems/postgres/accounts/flow-store.ts';
import type { FlowVersionStore } from '../systems/postgres/accounts/flow-version-store.ts';
import type { KeyStore } from '../systems/postgres/accounts/key-store.ts';
import type { KeyUsageStore } from '../systems/postgres/accounts/key-usage-store.ts';
import type { OperatorStore } from '../systems/postgres/accounts/operator-store.ts';
import type { OperatorTokenStore } from '../systems/postgres/accounts/operator-token-store.ts';
import type { ProjectStore } from '../systems/postgres/accounts/project-store.ts';
import type { RunTokenStore } from '../systems/postgres/accounts/run-token-store.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { RunConfigStore } from '../systems/postgres/admission/run-config-store.ts';
import type { EndpointStore } from '../systems/postgres/endpoints/endpoint-store.ts';
import type { EventStore } from '../systems/postgres/endpoints/event-store.ts';
import type { BlobStore } from '../systems/postgres/files/blob-store.ts';
import type { FileStore } from '../systems/postgres/files/file-store.ts';
import type { FlowFileStore } from '../systems/postgres/files/flow-file-store.ts';
import type { HostStore } from '../systems/postgres/hosts/host-store.ts';
import type { FrameStore } from '../systems/postgres/log/frame-store.ts';
import type { ScheduleStore } from '../systems/postgres/maintenance/schedule-store.ts';
import type { AgentTokenStore } from '../systems/postgres/runs/agent-token-store.ts';
import type { InteractionStore } from '../systems/postgres/runs/interaction-store.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';
import type { SpendStore } from '../systems/postgres/runs/spend-store.ts';
import type { WebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import type { MessageStore } from '../systems/postgres/sessions/message-store.ts';
import type { SessionStore } from '../systems/postgres/sessions/session-store.ts';
import type { AcceptedIds } from '../systems/redis/accepted-ids.ts';
import type { FrameStream } from '../systems/redis/frame-stream.ts';
import type { Notifications } from '../systems/redis/notifications.ts';
import type { Presence } from '../systems/redis/presence.ts';
import type { RateLimiter } from '../systems/redis/rate-limit.ts';
import type { StreamSlots } from '../systems/redis/stream-slots.ts';
import type { Temporal } from '../systems/temporal/client.ts';
import type { RunStarter } from '../systems/temporal/start-run.ts';
import type { HostRpc } from './files/host-rpc.ts';
import type { CorsOrigins } from './http/cors.ts';
import type { ApiMetrics } from './metrics.ts';
import type { PostgresDisk } from './postgres-disk.ts';
import type { ReplayBounds } from './stream/replay-memory.ts';

/** The result of a readiness check. */
export interface DependencyInfo {
  /** Null if the dependency does not report one. */
  version: string | null;
}

/** Everything that the API depends on. */
export interface ApiDeps {
  /** The URL by which clients reach the API, without a trailing slash. */
  publicUrl: string;
  /** The origins whose pages may call the API from a browser. */
  corsOrigins: CorsOrigins;
  /** Whether `X-Forwarded-For` from this address is trusted. */
  isTrustedProxy: (address: string) => boolean;
  /** The Temporal UI, for links; null if it is not configured. */
  temporalUiUrl: string | null;
  temporalNamespace: string;
  /** No model key is set, so the offline model may answer. The sign-in screen says so. */
  offlineModel: boolean;
  /** For flows that set no timeout. */
  runTimeoutMs: number;
  /** The maximum depth of a run tree. */
  runDepthMax: number;
  /** The operator's prices. They take precedence over the list prices. */
  modelPrices: PriceList;
  /** A host without a heartbeat for longer is lost. */
  hostLostMs: number;
  logger: FastifyBaseLogger;
  metrics: ApiMetrics;

  keys: Pick<KeyStore, 'findByKey' | 'findWithFlow' | 'activeOf' | 'touch' | 'find' | 'page'>;
  runTokens: RunTokenStore;
  agentTokens: Pick<AgentTokenStore, 'findHolder'>;
  keyUsage: KeyUsageStore;
  spend: SpendStore;
  configs: Pick<RunConfigStore, 'context'>;
  webhooks: Pick<WebhookStore, 'attempts' | 'markRedeliveryStarted'>;
  endpoints: EndpointStore;
  events: Pick<EventStore, 'find' | 'attempts' | 'page' | 'pageOfSession'>;
  projects: Omit<ProjectStore, 'list'>;
  operators: Pick<OperatorStore, 'findBySession'>;
  operatorTokens: Pick<OperatorTokenStore, 'findHolder' | 'page'>;
  audit: AuditLog;
  flowVersions: FlowVersionStore;
  schedules: Pick<ScheduleStore, 'listStarts'>;
  /** Null if Temporal does not have the schedule. */
  readScheduleTimes: Temporal['readScheduleTimes'];
  flows: Pick<FlowStore, 'find' | 'listByProject' | 'readSecrets'>;
  admission: Pick<
    AdmissionStore,
    'admitRun' | 'dryRunWithFiles' | 'admitWithFiles' | 'findEvictableInProject'
  >;
  runs: Pick<
    RunStore,
    | 'find'
    | 'list'
    | 'triggerFields'
    | 'changeLabels'
    | 'requestEnd'
    | 'markDeleted'
    | 'markWorkflowsStarted'
    | 'findStoredFiles'
  >;
  sessions: Pick<SessionStore, 'open' | 'find' | 'list' | 'changeConfig'>;
  messages: Pick<
    MessageStore,
    | 'store'
    | 'dryRunWithFiles'
    | 'storeWithFiles'
    | 'currentMessage'
    | 'markMessagesSignalled'
    | 'ends'
    | 'position'
    | 'listUnfinished'
    | 'withdraw'
    | 'wakeSession'
  >;
  presence: Pick<Presence, 'touch'>;
  /** How often open streams of sessions are reported. */
  presenceEveryMs?: number;
  /** Memory for replays that clients have not read. */
  replayBudget?: ReplayBounds;
  /** Memory for the latest frames of all streamed runs. */
  feedTotalBytes?: number;
  /** Starts and signals of messages in flight while clients are answered. */
  workflowCallsMax?: number;
  /** How long an answer waits for the end of a turn if the client asks for it. */
  chatWaitMs?: number;
  frames: Pick<FrameStore, 'read' | 'renderedTail' | 'progress' | 'progressOfRuns'>;
  interactions: Pick<InteractionStore, 'find' | 'open' | 'answer'>;
  files: Pick<FileStore, 'list' | 'listChanges' | 'find' | 'findPathConflict'>;
  flowFiles: FlowFileStore;
  blobs: Pick<BlobStore, 'read' | 'readSmall' | 'put' | 'has'>;
  acceptedIds: AcceptedIds;
  frameStream: Pick<FrameStream, 'read' | 'readPage' | 'subscribe' | 'readFileTree' | 'notify'>;
  notifications: Pick<Notifications, 'notify'>;
  /** Calls to the hosts that own the runs' sandboxes. */
  hostRpc: HostRpc;
  /** Postgres' own disk. While it is short, new data is rejected. */
  postgresDisk: Pick<PostgresDisk, 'isShort' | 'last'>;
  rateLimiter: RateLimiter;
  streamSlots: StreamSlots;

  startWebhook: (start: {
    runId: string;
    firstAttempt: number;
    delivery: number;
  }) => Promise<'started' | 'already'>;
  startRun: RunStarter['startRun'];
  stopRun: RunStarter['stopRun'];
  signalMessage: RunStarter['signalMessage'];
  isTemporalReachable: Temporal['isReachable'];
  signalInterrupt: (
    workflowId: string,
    turn: { messageId: string },
  ) => Promise<'signalled' | 'gone'>;
  signalSleep: (workflowId: string) => Promise<'signalled' | 'gone'>;
  /** Whether a webhook may be sent to this IP address. */
  isCallbackAddressAllowed: (address: string) => boolean;
  /** The checks of `/readyz` by name; each throws if the dependency is unavailable. */
  checks: Record<string, () => Promise<DependencyInfo>>;
  /** Further facts in `/readyz` that do not affect its status. */
  facts: { clockAheadMs(): Promise<number>; hosts: HostStore['list'] };

  now: () => Date;
  /** Milliseconds since 1970 that never go backwards. */
  nowMs: () => number;
  newId: () => string;
}
