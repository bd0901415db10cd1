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
  hostUnseenMs: 30 * secondMs,
  hostFenceMs: 60 * secondMs,
  hostLostMs: 120 * secondMs,
  leaseMs: 15 * secondMs,
  reconcileEveryMs: 5 * secondMs,
  workflowStartGraceMs: 5 * secondMs,

  agentLineMaxBytes: 8 * miB,
  spoolReadChunkBytes: 64 * kiB,
  spoolMaxBytes: 2 * giB,
  firstOutputMaxBytes: 1 * miB,
  replayBufferFrames: 10_000,
  replayBufferBytes: 8 * miB,
  replayBufferAfterEndMs: 1 * hourMs,
  redisFrameMaxBytes: 32 * kiB,

  streamPingMs: 15 * secondMs,
  streamBufferMaxBytes: 256 * kiB,
  streamsPerKey: 200,
  streamsPerProject: 1_000,

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
  socketPathMaxBytes: 100,

  webhookAttempts: 4,
  webhookAttemptTimeoutMs: 10 * secondMs,
  webhookResponseMaxBytes: 64 * kiB,

  frameRetentionMs: 30 * dayMs,
  tombstoneMs: 1 * dayMs,
} as const;
