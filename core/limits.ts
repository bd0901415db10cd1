/** Every number that a client, an operator or a test can feel, with its unit. */
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
  /** For so long a host goes on with a project's model before it asks again whose it is. */
  projectModelTtlMs: 5 * secondMs,

  runTimeoutMs: 6 * hourMs,
  stallTimeoutMs: 30 * minuteMs,
  afterResultGraceMs: 15 * secondMs,
  stopGraceDefaultSeconds: 10,
  stopGraceMaxSeconds: 60,
  noCapacityTimeoutMs: 10 * minuteMs,

  sessionQueueMax: 50,
  /** How many sandboxes a message is given to before its turn counts as failed. */
  turnTriesMax: 2,
  /** Sandboxes lost one after the other, with no turn finished in between. */
  sessionCrashesMax: 3,
  sessionIdleMs: 5 * minuteMs,
  sessionAttendedIdleMs: 60 * minuteMs,
  /** How often a process says that a session's stream is held open. */
  presenceEveryMs: 10 * secondMs,
  presenceTtlMs: 2 * hourMs,
  sessionInactivityMs: 30 * dayMs,
  /** A workflow begins its history anew after so many turns at the latest. */
  sessionTurnsPerHistory: 300,
  /** An agent that has nothing to do is left running for so long, in case more comes. */
  sessionPauseAfterMs: 5 * secondMs,
  /** How long a session may take to go to sleep for another one's sake. */
  evictionTimeoutMs: 10 * secondMs,
  evictionPollMs: 50,
  /** Others may take the room that was made. */
  evictionTriesMax: 4,
  /** A session that was told to make way on a full host is told again only after so long. */
  evictionRetryMs: 10 * secondMs,
  chatWaitMs: 300 * secondMs,

  /** After the end: the log and the files of a run, and the files of a session. */
  runRetentionDays: 30,
  sessionFileRetentionDays: 7,
  webhookAttemptRetentionDays: 30,
  /** After a run was deleted: what is left of it. */
  tombstoneTtlMs: 1 * dayMs,
  unreferencedBlobTtlMs: 1 * dayMs,
  /** A blob that was stored or found so lately is not marked as found again. */
  blobTouchMs: 1 * hourMs,
  retentionEveryMs: 1 * hourMs,
  blobGcEveryMs: 1 * dayMs,
  retentionBatchRows: 1_000,

  hostRenewMs: 5 * secondMs,
  dataDirLockCheckMs: secondMs / 4,
  hostStaleMs: 30 * secondMs,
  hostFenceMs: 60 * secondMs,
  hostLostMs: 120 * secondMs,
  /** How often a host looks at its engine, image, disk and clock. */
  hostHealthEveryMs: 15 * secondMs,
  /** With less, a host is said to be short of disk. */
  diskFreeMinBytes: 5 * giB,
  diskFreeMinInodes: 100_000,
  /** A clock that is off by more is said to be wrong. */
  clockOffMaxMs: 5 * secondMs,
  leaseMs: 15 * secondMs,
  reconcileEveryMs: 5 * secondMs,
  workflowStartGraceMs: 5 * secondMs,

  agentLineMaxBytes: 8 * miB,
  /** Questions of the agent that wait at a time. */
  interactionsMax: 50,
  questionsMax: 20,
  questionMaxChars: 4_096,
  questionsMaxChars: 64 * kiB,
  answerMaxChars: 10_000,
  /** For so long a request waits for the host to hand an answer over. */
  answerDeliveryTimeoutMs: 5 * secondMs,
  truncatedLineHeadChars: 32 * kiB,
  spoolReadChunkBytes: 64 * kiB,
  spoolMaxBytes: 2 * giB,
  /** Output that cannot be read for so long ends its run. */
  spoolUnreadableMs: 60 * secondMs,
  firstOutputMaxBytes: 1 * miB,
  replayBufferFrames: 10_000,
  replayBufferBytes: 8 * miB,
  replayBufferAfterEndMs: 1 * hourMs,
  redisFrameMaxBytes: 32 * kiB,
  /** What is longer is not sent with the word that it is there: who hears that reads it. */
  redisNotificationMaxBytes: 8 * kiB,

  streamPingMs: 15 * secondMs,
  /** What a reader may have waiting in this process before it is waited for. */
  streamBufferMaxBytes: 64 * kiB,
  /** A reader that takes nothing for so long is cut off. */
  streamStallMs: 10 * secondMs,
  streamsPerKey: 200,
  streamsPerProject: 1_000,
  /** A seat of a process that died is free again after so long. */
  streamSlotTtlMs: 60 * secondMs,
  streamKeyCheckMs: 10 * secondMs,
  /** How often a process looks for what nobody woke it up for. */
  streamTickMs: 1 * secondMs,
  streamRetryAtShutdownMs: 500,
  streamCloseMs: 1 * secondMs,
  /** What a process keeps of a watched run's latest frames, encoded. */
  liveFeedFrames: 4_000,
  liveFeedBytes: 8 * miB,
  /** What it reads of a growing log at a time; one reads for all readers. */
  liveFeedPageFrames: 500,
  /** A page of a replay: small, since every reader may hold one. */
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
  /** For so long a proxy's name stands for the addresses that it led to. */
  proxyNameTtlMs: 10 * secondMs,
  workflowStartWaitMs: 2 * secondMs,
  workflowSignalWaitMs: 2 * secondMs,
  readinessTimeoutMs: 2 * secondMs,
  /** After a restore, for whoever asks before it is settled. */
  restoreRetrySeconds: 5,

  redisCommandTimeoutMs: 1 * secondMs,
  redisReconnectMaxMs: 1 * secondMs,
  /** After a failure Redis is left alone for so long. */
  redisBackoffMs: 1 * secondMs,
  /** A run that nothing was published for is gone from Redis after so long. */
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
  /** How often both sides of a question to a host look, should no bell be heard. */
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
  /** For a sandbox that only shows whether one works. */
  runtimeProbeMs: 30 * secondMs,
  socketPathMaxBytes: 100,

  webhookAttempts: 4,
  /** After the first attempt, the second, and the third. */
  webhookDelaysMs: [2 * secondMs, 10 * secondMs, 30 * secondMs],
  webhookAttemptTimeoutMs: 10 * secondMs,
  webhookResponseMaxBytes: 64 * kiB,
} as const;
