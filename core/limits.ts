/** Every limit and interval that clients, operators or tests can observe, with its unit. */
const kiB = 1024;
const miB = 1024 * kiB;
const giB = 1024 * miB;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const limits = {
  promptMaxBytes: 1 * miB,
  instructionsMaxChars: 100_000,
  timeoutMaxSeconds: 86_400,
  requestBodyMaxBytes: 40 * miB,
  idempotencyKeyMaxChars: 255,
  idempotencyWindowMs: 24 * hourMs,
  nameMaxChars: 200,
  descriptionMaxChars: 2_000,
  allowedHostsMax: 100,
  labelsMax: 20,
  labelValueMaxChars: 256,
  callbackUrlMaxChars: 2048,
  waitMaxSeconds: 60,
  runEndPollMs: 2 * secondMs,
  mcpServersMax: 20,
  mcpServersMaxBytes: 64 * kiB,
  mcpHeadersMax: 32,
  mcpHeaderMaxBytes: 8 * kiB,
  appendSystemPromptMaxChars: 100_000,
  disallowedToolsMax: 200,
  disallowedToolMaxChars: 256,
  envNamesMax: 100,
  envNameMaxChars: 256,
  envValueMaxBytes: 32 * kiB,
  envMaxBytes: 256 * kiB,
  contextHeadersMax: 20,
  contextNameMaxChars: 64,
  contextValueMaxChars: 256,
  maxTurnsMax: 1_000,
  maxBudgetMinUsd: 0.01,
  maxBudgetMaxUsd: 10_000,
  outputSchemaMaxBytes: 64 * kiB,
  pageDefault: 50,
  pageMax: 200,
  runPageMaxBytes: 16 * miB,
  logPageDefault: 200,
  logPageMax: 1_000,

  projectRunsMax: 1_000_000,
  keyRatePerMinute: 60,
  keyRatePerMinuteMax: 10_000,
  keyShownChars: 12,
  keyUsageEveryMs: 5 * secondMs,
  keyUsageDays: 30,

  signInLinkMs: 24 * hourMs,
  operatorSessionMs: 7 * dayMs,
  /** How long a host caches a project's model. */
  projectModelTtlMs: 5 * secondMs,

  runTimeoutMs: 6 * hourMs,
  stallTimeoutMs: 30 * minuteMs,
  afterResultGraceMs: 15 * secondMs,
  stopGraceDefaultSeconds: 10,
  stopGraceMaxSeconds: 60,
  noCapacityTimeoutMs: 10 * minuteMs,

  sessionQueueMax: 50,
  /** Sandboxes in which a message is tried before its turn fails. */
  turnTriesMax: 2,
  /** Consecutive sandboxes lost without a finished turn. */
  sessionCrashesMax: 3,
  sessionIdleMs: 5 * minuteMs,
  sessionAttendedIdleMs: 60 * minuteMs,
  /** How often a process records that a session's stream has readers. */
  presenceEveryMs: 10 * secondMs,
  presenceTtlMs: 2 * hourMs,
  sessionInactivityMs: 30 * dayMs,
  /** Turns after which a session's workflow continues as new. */
  sessionTurnsPerHistory: 300,
  /** How long an idle agent keeps running before it is paused. */
  sessionPauseAfterMs: 5 * secondMs,
  /** How long an evicted session may take to go to sleep. */
  evictionTimeoutMs: 10 * secondMs,
  evictionPollMs: 50,
  /** Others may claim the slot that was freed. */
  evictionTriesMax: 4,
  /** Interval between eviction requests to the same session of a full host. */
  evictionRetryMs: 10 * secondMs,
  chatWaitMs: 300 * secondMs,

  /** After the end: log and files of a run, files of a session. */
  runRetentionDays: 30,
  sessionFileRetentionDays: 7,
  webhookAttemptRetentionDays: 30,
  /** After a run was deleted: its tombstone. */
  tombstoneTtlMs: 1 * dayMs,
  unreferencedBlobTtlMs: 1 * dayMs,
  /** Minimum age of a blob's `touched_at` before reuse refreshes it. */
  blobTouchMs: 1 * hourMs,
  retentionEveryMs: 1 * hourMs,
  blobGcEveryMs: 1 * dayMs,
  retentionBatchRows: 1_000,

  hostRenewMs: 5 * secondMs,
  dataDirLockCheckMs: secondMs / 4,
  hostStaleMs: 30 * secondMs,
  hostFenceMs: 60 * secondMs,
  hostLostMs: 120 * secondMs,
  /** How often a host checks its engine, image, disk and clock. */
  hostHealthEveryMs: 15 * secondMs,
  /** With less, the doctor reports the host as short of disk. */
  diskFreeMinBytes: 5 * giB,
  diskFreeMinInodes: 100_000,
  /** With a larger offset, the doctor reports the clock as wrong. */
  clockOffMaxMs: 5 * secondMs,
  leaseMs: 15 * secondMs,
  /** How often a lease is renewed before it would expire. */
  leaseRenewals: 3,
  /** How often a sandbox's container is inspected, in case its exit is not reported. */
  exitPollMs: 1 * secondMs,
  reconcileEveryMs: 5 * secondMs,
  workflowStartGraceMs: 5 * secondMs,

  agentLineMaxBytes: 8 * miB,
  /** Open questions of an agent at a time. */
  interactionsMax: 50,
  questionsMax: 20,
  questionMaxChars: 4_096,
  questionsMaxChars: 64 * kiB,
  answerMaxChars: 10_000,
  /** How long a request waits for the host to deliver an answer. */
  answerDeliveryTimeoutMs: 5 * secondMs,
  truncatedLineHeadChars: 32 * kiB,
  spoolReadChunkBytes: 64 * kiB,
  spoolMaxBytes: 2 * giB,
  /** A run ends if its output cannot be read for this long. */
  spoolUnreadableMs: 60 * secondMs,
  firstOutputMaxBytes: 1 * miB,
  replayBufferFrames: 10_000,
  replayBufferBytes: 8 * miB,
  replayBufferAfterEndMs: 1 * hourMs,
  redisFrameMaxBytes: 32 * kiB,
  /** Longer batches are not included in their notification. */
  redisNotificationMaxBytes: 8 * kiB,

  streamPingMs: 15 * secondMs,
  /** Bytes buffered per reader before backpressure applies. */
  streamBufferMaxBytes: 64 * kiB,
  /** A reader that accepts nothing for this long is disconnected. */
  streamStallMs: 10 * secondMs,
  streamsPerKey: 200,
  streamsPerProject: 1_000,
  /** After this time, a slot of a process that died is free again. */
  streamSlotTtlMs: 60 * secondMs,
  streamKeyCheckMs: 10 * secondMs,
  /** How often a process polls for lost notifications. */
  streamTickMs: 1 * secondMs,
  streamRetryAtShutdownMs: 500,
  streamCloseMs: 1 * secondMs,
  /** Latest frames of a streamed run that a process buffers, encoded. */
  liveFeedFrames: 4_000,
  liveFeedBytes: 8 * miB,
  /** Frames read from a growing log at a time, once for all readers. */
  liveFeedPageFrames: 500,
  /** A page of a replay; small, because every reader may buffer one. */
  replayPageFrames: 100,
  replayPageBytes: 256 * kiB,
  logPageMaxBytes: 16 * miB,

  bodyMaxBytes: 64 * kiB,
  requestTimeoutMs: 30 * secondMs,
  headersTimeoutMs: 15 * secondMs,
  connectionsMax: 10_000,
  maxReportedIssues: 5,
  reportedFieldMaxChars: 100,
  keyTouchEveryMs: 5 * secondMs,
  unknownKeyMemoryMs: 5 * secondMs,
  unknownKeysPerMinute: 600,
  addressesRememberedMax: 10_000,
  /** How long the resolved addresses of a trusted proxy's name are cached. */
  proxyNameTtlMs: 10 * secondMs,
  workflowStartWaitMs: 2 * secondMs,
  workflowSignalWaitMs: 2 * secondMs,
  readinessTimeoutMs: 2 * secondMs,
  /** Retry-After while a restore is being reconciled. */
  restoreRetrySeconds: 5,

  redisCommandTimeoutMs: 1 * secondMs,
  redisReconnectMaxMs: 1 * secondMs,
  /** After a failure, no calls to Redis are made for this long. */
  redisBackoffMs: 1 * secondMs,
  /** Expiry of a run's keys in Redis after the last publication. */
  redisLiveMs: 1 * dayMs,

  fileTreeMaxNodes: 5_000,
  fileTreeMaxDepth: 20,
  fileTreeEveryMs: 2 * secondMs,
  snapshotMaxBytes: 512 * miB,
  snapshotMaxFiles: 20_000,
  blobChunkBytes: 1 * miB,
  filePathMaxBytes: 512,
  snapshotTimeoutMs: 5 * minuteMs,
  filesPerRequestMax: 100,
  fileMaxBytes: 10 * miB,
  filesPerRequestMaxBytes: 25 * miB,
  flowStorageBytes: 500 * miB,
  flowFilesMax: 10_000,
  flowIgnoreMaxBytes: 64 * kiB,
  flowIgnoreMatchMs: 50,

  /** How long the API waits for a host to store or write files. */
  hostFilesTimeoutMs: 10 * secondMs,
  /** How often both sides of a host RPC poll, in case a notification is lost. */
  hostRpcPollMs: 1 * secondMs,
  hostRpcConcurrency: 16,

  sandboxMemoryBytes: 2 * giB,
  sandboxCpus: 1,
  memoryMinBytes: 256 * miB,
  memoryMaxBytes: 1024 * giB,
  cpusMin: 0.1,
  cpusMax: 256,
  sandboxStartCpus: 2,
  sandboxProcesses: 512,
  workspaceMaxBytes: 5 * giB,
  workspaceMaxInodes: 500_000,
  engineCallTimeoutMs: 10 * secondMs,
  /** Time limit of a container that probes a runtime. */
  runtimeProbeMs: 30 * secondMs,
  socketPathMaxBytes: 100,

  webhookAttempts: 4,
  /** After the first attempt, the second, and the third. */
  webhookDelaysMs: [2 * secondMs, 10 * secondMs, 30 * secondMs],
  webhookAttemptTimeoutMs: 10 * secondMs,
  webhookResponseMaxBytes: 64 * kiB,
} as const;
