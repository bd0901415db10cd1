import { storageLimits } from './files/storage-limits.ts';
import { httpLimits } from './http-limits.ts';
import { reconcilerLimits } from './reconciler-limits.ts';
import { streamLimits } from './stream-limits.ts';
import { workflowLimits } from './temporal/workflow-limits.ts';
import { webhookLimits } from './webhook-limits.ts';

/** Every limit and interval that clients, operators or tests can observe, with its unit. */
const kiB = 1024;
const miB = 1024 * kiB;
const giB = 1024 * miB;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const limits = {
  http: httpLimits,
  page: {
    defaultItems: 50,
    maxItems: 200,
    /** Results of a page of runs or sessions. */
    runsMaxBytes: 4 * miB,
    /** Prompts and instructions of a page of flows. */
    flowsMaxBytes: 4 * miB,
    logDefaultEntries: 200,
    logMaxEntries: 1_000,
    logMaxBytes: 4 * miB,
  },
  text: {
    nameMaxChars: 200,
    descriptionMaxChars: 2_000,
    promptMaxBytes: 1 * miB,
    instructionsMaxChars: 100_000,
    appendSystemPromptMaxChars: 100_000,
  },
  idempotency: { keyMaxChars: 255, windowMs: 24 * hourMs },
  label: { maxCount: 20, valueMaxChars: 256 },
  mcp: { serversMax: 20, serversMaxBytes: 64 * kiB, headersMax: 32, headerMaxBytes: 8 * kiB },
  tool: { disallowedMax: 200, disallowedMaxChars: 256 },
  env: { namesMax: 100, nameMaxChars: 256, valueMaxBytes: 32 * kiB, maxBytes: 256 * kiB },
  context: { headersMax: 20, nameMaxChars: 64, valueMaxChars: 256 },
  file: { pathMaxBytes: 512, maxBytes: 10 * miB, perRequestMax: 100, perRequestMaxBytes: 25 * miB },
  flow: {
    allowedHostsMax: 100,
    storageBytes: 500 * miB,
    filesMax: 10_000,
    ignoreMaxBytes: 64 * kiB,
    ignoreMatchMs: 50,
  },
  project: {
    runsMax: 1_000_000,
    sessionsMax: 1_000_000,
    /** The highest storage quota that an operator can set. */
    storageMaxBytes: 1024 ** 2 * giB,
    storageDefaultBytes: 50 * giB,
    /** The defaults of the other limits, as in the table of projects. */
    concurrentRunsDefault: 10,
    openSessionsDefault: 10_000,
    /** How long a host caches a project's model. */
    modelTtlMs: 5 * secondMs,
  },
  key: {
    ratePerMinute: 60,
    ratePerMinuteMax: 10_000,
    shownChars: 12,
    usageEveryMs: 5 * secondMs,
    usageDays: 30,
    touchEveryMs: 5 * secondMs,
  },
  unknownKey: { memoryMs: 5 * secondMs, perMinute: 600, addressesMax: 10_000 },
  operator: { signInLinkMs: 24 * hourMs, sessionMs: 7 * dayMs },
  run: {
    timeoutMaxSeconds: 86_400,
    timeoutMs: 6 * hourMs,
    turnsMax: 1_000,
    budgetMinUsd: 0.01,
    budgetMaxUsd: 10_000,
    outputSchemaMaxBytes: 64 * kiB,
    callbackUrlMaxChars: 2048,
    waitMaxSeconds: 60,
    endPollMs: 2 * secondMs,
    noCapacityTimeoutMs: 10 * minuteMs,
    stallTimeoutMs: 30 * minuteMs,
    afterResultGraceMs: 15 * secondMs,
    stopGraceDefaultSeconds: 10,
    stopGraceMaxSeconds: 60,
  },
  interaction: {
    /** Open questions of an agent at a time. */
    openMax: 50,
    questionsMax: 20,
    questionMaxChars: 4_096,
    questionsMaxChars: 64 * kiB,
    answerMaxChars: 10_000,
    /** How long a request waits for the host to deliver an answer. */
    deliveryTimeoutMs: 5 * secondMs,
  },
  session: {
    queueMax: 50,
    /** Sandboxes in which a message is tried before its turn fails. */
    turnTriesMax: 2,
    /** Consecutive sandboxes lost without a finished turn. */
    crashesMax: 3,
    idleMs: 5 * minuteMs,
    attendedIdleMs: 60 * minuteMs,
    /** How long an idle agent keeps running before it is paused. */
    pauseAfterMs: 5 * secondMs,
    inactivityMs: 30 * dayMs,
    /** Turns after which a session's workflow continues as new. */
    turnsPerHistory: 300,
    chatWaitMs: 300 * secondMs,
  },
  presence: {
    /** How often a process records that a session's stream has readers. */
    everyMs: 10 * secondMs,
    ttlMs: 2 * hourMs,
  },
  eviction: {
    /** How long an evicted session may take to go to sleep. */
    timeoutMs: 10 * secondMs,
    pollMs: 50,
    /** Attempts to evict, because others may claim the slot that was freed. */
    triesMax: 4,
    /** Interval between eviction requests to the same session of a full host. */
    retryMs: 10 * secondMs,
    /** How long an agent may take to start a turn after its last background task has ended. */
    turnStartMs: 10 * secondMs,
  },
  host: {
    renewMs: 5 * secondMs,
    staleMs: 30 * secondMs,
    fenceMs: 60 * secondMs,
    lostMs: 120 * secondMs,
    dataDirLockCheckMs: secondMs / 4,
    /** How often a host checks its engine, image, disk and clock. */
    healthEveryMs: 15 * secondMs,
    /** Two seconds at 1 GiB/s. With less free space, the sandbox that writes most is ended. */
    diskReserveBytes: 2 * giB,
    /** The same for inodes: a sandbox with one processor creates at most so many in two seconds. */
    diskReserveInodes: 50_000,
    diskCheckMs: secondMs / 10,
    /** With less, the doctor reports the host as short of disk. */
    diskFreeMinBytes: 5 * giB,
    diskFreeMinInodes: 100_000,
    /** With a larger offset, the doctor reports the clock as wrong. */
    clockOffMaxMs: 5 * secondMs,
  },
  hostRpc: {
    /** How often both sides of a host RPC poll, in case a notification is lost. */
    pollMs: 1 * secondMs,
    /** Calls that a host executes at a time, for all projects. */
    slots: 16,
    /** How long the API waits for a host to store or write files. */
    filesTimeoutMs: 10 * secondMs,
  },
  reconciler: reconcilerLimits,
  /** How often a process compares Temporal's identity with the one that the database stores. */
  temporal: { identityEveryMs: 30 * secondMs },
  workflow: workflowLimits,
  sandbox: {
    memoryBytes: 2 * giB,
    /** Measured between two turns of an agent. Nothing enforces it. */
    idleMemoryBytes: 130 * miB,
    memoryMinBytes: 256 * miB,
    memoryMaxBytes: 1024 * giB,
    cpus: 1,
    cpusMin: 0.1,
    cpusMax: 256,
    startCpus: 2,
    processes: 512,
    workspaceMaxBytes: 5 * giB,
    workspaceMaxInodes: 500_000,
    socketPathMaxBytes: 100,
    /** How often a sandbox's container is inspected, in case its exit is not reported. */
    exitPollMs: 1 * secondMs,
    pausedPollMs: 1 * minuteMs, // for all watches: a paused sandbox may resume unnoticed
  },
  /** Requests of one sandbox to the control API on its socket. */
  control: {
    /** Concurrent requests, including the long poll. */
    requestsMax: 8,
    burst: 100,
    perSecond: 10,
    pollMs: 25 * secondMs,
    /** Answers that the sandbox has not read. A single larger one is allowed. */
    unreadMaxBytes: 4 * miB,
    /** A connection that has not read its answer by then is closed. */
    readTimeoutMs: 30 * secondMs,
    /** All connections of one sandbox, also to the model and to the network. */
    connectionsMax: 256,
  },
  engine: {
    callTimeoutMs: 10 * secondMs,
    /** How long a container's state may be that of an earlier event. */
    lateEventMs: 2 * secondMs,
    /** Time limit of a container that probes a runtime. */
    runtimeProbeMs: 30 * secondMs,
  },
  spool: {
    readChunkBytes: 64 * kiB,
    maxBytes: 2 * giB,
    /** A run ends if its output cannot be read for this long. */
    unreadableMs: 60 * secondMs,
    lineMaxBytes: 8 * miB,
    truncatedHeadChars: 32 * kiB,
  },
  log: {
    leaseMs: 15 * secondMs,
    /** How often a lease is renewed before it would expire. */
    leaseRenewals: 3,
    firstOutputMaxBytes: 1 * miB,
  },
  ...storageLimits,
  ...streamLimits,
  fileTree: { maxNodes: 5_000, maxDepth: 20, maxBytes: 1 * miB, everyMs: 2 * secondMs },
  postgres: {
    /** The default maximum of one API process or one worker. */
    connections: 20,
    /** Connections of a pool that stay open: opening one takes longer than most queries. */
    idleConnections: 4,
    /** Reserved connections of a worker: half for its heartbeat, half for leases of logs. */
    reservedByWorker: 4,
    /** With less free space on its disk, new data is rejected. */
    diskReserveBytes: 2 * giB,
    diskCheckMs: 1 * secondMs,
    /** Many times `diskCheckMs`, so that a late reading changes nothing. */
    diskNoticeTtlMs: 30 * secondMs,
  },
  retention: {
    /** After the end: log and files of a run, files of a session. */
    runDays: 30,
    sessionFileDays: 7,
    webhookAttemptDays: 30,
    /** After a run was deleted: its tombstone. */
    tombstoneTtlMs: 1 * dayMs,
    everyMs: 1 * hourMs,
    batchRows: 1_000,
    /** Changes of stored bytes that one statement adds to their sums, and how often. */
    foldRows: 50_000,
    foldEveryMs: 1 * minuteMs,
    /** Ended runs whose logs, or whose files, are deleted together. */
    batchRuns: 100,
    /** Files of several runs that are deleted together. */
    batchFiles: 20_000,
    /** Blobs that one statement deletes; a larger blob is deleted alone. */
    batchBytes: 64 * miB,
  },
  webhook: webhookLimits,
} as const;
