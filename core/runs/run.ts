import type { RunSpending } from '../metering/ledger-entry.ts';
import type { EndCause } from './end-cause.ts';
import type { SecretField } from './run-config.ts';

/** The container's state. Clients see only these two values. */
export type RunStatus = 'running' | 'sleep';
export type AgentStatus = 'working' | 'idle' | 'waiting' | 'error';
export type TriggerType = 'api' | 'dashboard' | 'schedule';
export type Labels = Record<string, string>;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
};

export type WebhookState = 'none' | 'waiting' | 'pending' | 'delivered' | 'dropped';

/** A run without its prompt, result and structured output, which may be megabytes. */
export interface RunOutline {
  runId: string;
  flowId: string;
  projectId: string;
  name: string | null;
  labels: Labels;
  status: RunStatus;
  agentStatus: AgentStatus | null;
  triggerType: TriggerType;
  promptBytes: number;
  partialMessages: boolean;
  timeoutSeconds: number;
  /** Null: the agent's default. */
  model: string | null;
  maxTurns: number | null;
  maxBudgetUsd: number | null;
  sessionId: string | null;
  /** True for a session that has a message in progress, or a sandbox for the next one. */
  holdsSlot: boolean;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  deletedAt: Date | null;
  endCause: EndCause | null;
  endDetail: string | null;
  exitCode: number | null;
  usage: Usage;
  spending: RunSpending;
  numTurns: number;
  createdBy: { keyName: string; createdBy: string };
  webhook: { state: WebhookState; attempts: number; lastStatus: number | null };
  mcpServerNames: string[];
  /** The run that this one retries. */
  retryOf: string | null;
  /** The offline model has answered its agent. */
  offlineModel: boolean;
  /** The version of its flow when it was created; null: not known. */
  flowVersion: number | null;
  /** The runs above it, the root of the tree first; empty: no run has started it. */
  ancestorIds: string[];
  /** Fields of the request's configuration, which is not stored. */
  secretFields: SecretField[];
  /** The request that created it; null for a scheduled run. */
  requestId: string | null;
  hostId: string | null;
  generation: number;
  workflowId: string;
  workflowStartedAt: Date | null;
  lastSeq: number;
}

/** A run as stored in Postgres. It has ended if and only if `endedAt` is set. */
export interface Run extends RunOutline {
  prompt: string;
  result: string | null;
  structuredOutput: string | null;
}

/** Of a run that is kept in memory. */
export function outlineOf(run: Run): RunOutline {
  const { prompt: _prompt, result: _result, structuredOutput: _output, ...outline } = run;
  return outline;
}

/** Whether it occupies a slot of its project, and of its host if it has one. */
export function occupiesSlot(run: Pick<Run, 'endedAt' | 'sessionId' | 'holdsSlot'>): boolean {
  return run.endedAt === null && (run.sessionId === null || run.holdsSlot);
}
