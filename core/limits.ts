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
  idempotencyKeyInWorkflowIdMaxChars: 100,
  idempotencyWindowMs: 24 * hourMs,
  nameMaxChars: 200,
  labelsMax: 20,
  labelValueMaxChars: 256,
  callbackUrlMaxChars: 2048,
  pageDefault: 50,
  pageMax: 200,
  logPageDefault: 200,
  logPageMax: 1_000,

  projectMaxConcurrentRuns: 10,
  keyRatePerMinute: 60,
  keyRatePerMinuteMax: 10_000,
  keyShownChars: 12,

  runTimeoutMs: 6 * hourMs,
  stallTimeoutMs: 30 * minuteMs,
  afterResultGraceMs: 15 * secondMs,
  stopGraceDefaultSeconds: 10,
  stopGraceMaxSeconds: 60,
  noCapacityTimeoutMs: 10 * minuteMs,

  hostRenewMs: 5 * secondMs,
  dataFolderCheckMs: secondMs / 4,
  hostUnseenMs: 30 * secondMs,
  hostLostMs: 120 * secondMs,
  leaseMs: 15 * secondMs,
  reconcileEveryMs: 5 * secondMs,
  workflowStartGraceMs: 5 * secondMs,

  agentLineMaxBytes: 8 * miB,
  cutLineHeadChars: 32 * kiB,
  spoolReadChunkBytes: 64 * kiB,
  spoolMaxBytes: 2 * giB,
  firstOutputMaxBytes: 1 * miB,
  replayBufferFrames: 10_000,
  replayBufferBytes: 8 * miB,
  replayBufferAfterEndMs: 1 * hourMs,
  redisFrameMaxBytes: 32 * kiB,

  streamPingMs: 15 * secondMs,
  /** What a reader may have waiting in this process before it is waited for. */
  streamBufferMaxBytes: 64 * kiB,
  /** A reader that takes nothing for so long is cut off. */
  streamStallMs: 10 * secondMs,
  streamsPerKey: 200,
  streamsPerProject: 1_000,
  /** A seat of a process that died is free again after so long. */
  streamSeatMs: 60 * secondMs,
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
  shownIssuesMax: 5,
  shownFieldMaxChars: 100,
  keyTouchEveryMs: 5 * secondMs,
  unknownKeyMemoryMs: 5 * secondMs,
  unknownKeysPerMinute: 600,
  addressesRememberedMax: 10_000,
  workflowStartWaitMs: 2 * secondMs,
  workflowSignalWaitMs: 2 * secondMs,
  readinessTimeoutMs: 2 * secondMs,

  redisCommandTimeoutMs: 1 * secondMs,
  redisReconnectMaxMs: 1 * secondMs,
  /** After a failure Redis is left alone for so long. */
  redisPauseMs: 1 * secondMs,
  /** A run that nothing was published for is gone from Redis after so long. */
  redisLiveMs: 1 * dayMs,

  fileTreeMaxNodes: 5_000,
  fileTreeMaxDepth: 20,
  fileTreeEveryMs: 2 * secondMs,
  snapshotMaxBytes: 512 * miB,
  snapshotMaxFiles: 20_000,
  blobChunkBytes: 1 * miB,
  filePathMaxBytes: 512,
  collectTimeoutMs: 5 * minuteMs,

  sandboxMemoryBytes: 2 * giB,
  sandboxCpus: 1,
  sandboxStartCpus: 2,
  sandboxProcesses: 512,
  workspaceMaxBytes: 5 * giB,
  sandboxDeadlineMs: 2 * hourMs,
  engineCallTimeoutMs: 10 * secondMs,
  socketPathMaxBytes: 100,

  webhookAttempts: 4,
  webhookAttemptTimeoutMs: 10 * secondMs,
  webhookResponseMaxBytes: 64 * kiB,
} as const;
