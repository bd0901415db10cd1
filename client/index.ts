// The exports of the package @flowrun/client.

export type { RunChanges } from './files/changes.ts';
export type { FlowFiles } from './files/flow-files.ts';
export type { FileContent } from './files/input-files.ts';
export type { RunFiles } from './files/run-files.ts';
export { Flowrun, type FlowrunOptions, type RunFilter } from './flowrun.ts';
export type {
  AgentContentBlock,
  EventData,
  FileChange,
  FileEntry,
  FileTreeNode,
  Flow,
  RunDetails,
  RunFinished,
  RunRecord,
  RunToken,
  SessionDetails,
  SessionEnded,
  Turn,
  UnfinishedMessage,
} from './generated/types.ts';
export {
  BudgetReached,
  ConcurrentLimit,
  ConnectionFailed,
  EndpointRetired,
  FilesNotKept,
  FlowrunError,
  InternalError,
  isFlowrunError,
  MessageNotQueued,
  MethodNotAllowed,
  MonthlyQuota,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  ProjectArchived,
  QueueFull,
  RangeNotSatisfiable,
  RateLimited,
  RunnerOffline,
  RunTreeLimit,
  SessionLimit,
  StreamLimit,
  Unauthorized,
  UpstreamUnavailable,
  ValidationError,
  WaitLimit,
} from './http/errors.ts';
export type { Retry } from './http/http.ts';
export type { OutputSchema } from './runs/output-schema.ts';
export { RunFailed, type RunResult } from './runs/result.ts';
export type { Answers, Run } from './runs/run.ts';
export type { RunOptions } from './runs/run-request.ts';
export type { PendingRun } from './runs/start-run.ts';
export type { MessageOptions, Session, SessionOptions } from './sessions/session.ts';
export type { PendingTurn } from './sessions/turn.ts';
export type { EventOf, RunEvent, UnknownEvent } from './stream/events.ts';
export type { FollowOptions } from './stream/follow.ts';
export type { LogEntry, LogOptions } from './stream/read-log.ts';
export type {
  Entry,
  MessageEntry,
  NoticeEntry,
  PatchHunk,
  QuestionEntry,
  TextEntry,
  ThinkingEntry,
  ToolEntry,
} from './transcript/entries.ts';
export { emptyTranscript, type Transcript } from './transcript/state.ts';
export { extendTranscript } from './transcript/transcript.ts';
export { verifyWebhook, WebhookRejected, type WebhookRequest } from './webhooks/verify.ts';
export type { WebhookEvent } from './webhooks/webhook-events.ts';
