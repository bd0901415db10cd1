import type { EndCause } from '../../../core/runs/end-cause.ts';
import type {
  AgentStatus,
  Run,
  RunOutline,
  RunStatus,
  TriggerType,
  WebhookState,
} from '../../../core/runs/run.ts';
import type { SecretField } from '../../../core/runs/run-config.ts';

/** The columns of a RunOutline from `runs r` and `run_logs l`. */
export const outlineColumns = `
  r.id, r.flow_id, r.project_id, r.name, r.labels, r.status, r.agent_status, r.trigger_type,
  r.partial_messages, r.timeout_seconds, r.session_id, r.created_at, r.started_at,
  r.ended_at, r.deleted_at, r.end_cause, r.end_detail, r.exit_code, octet_length(r.prompt) as prompt_bytes,
  r.input_tokens, r.output_tokens, r.cache_read_input_tokens, r.cache_creation_input_tokens,
  r.model_calls, r.cost_nanos, r.num_turns, r.key_name, r.key_created_by, r.webhook_state, r.webhook_attempts,
  r.webhook_last_status, r.mcp_server_names, r.host_id, r.generation, r.workflow_id,
  r.workflow_started_at, r.model, r.max_turns, r.max_budget_usd, r.retry_of, r.secret_fields,
  r.holds_slot, r.request_id, r.offline_model, r.flow_version, r.ancestor_ids`;

/** Those of a ListedRun. */
export const listedColumns = `${outlineColumns}, r.result, r.structured_output`;

export const runColumns = `${listedColumns}, r.prompt`;

export const selectRuns = `
  select ${runColumns}, l.last_seq from runs r join run_logs l on l.run_id = r.id`;

export const selectOutlines = `
  select ${outlineColumns}, l.last_seq from runs r join run_logs l on l.run_id = r.id`;

export interface RunOutlineRow {
  id: string;
  flow_id: string;
  project_id: string;
  name: string | null;
  labels: string;
  status: RunStatus;
  agent_status: AgentStatus | null;
  trigger_type: TriggerType;
  prompt_bytes: number;
  partial_messages: boolean;
  timeout_seconds: number;
  model: string | null;
  max_turns: number | null;
  max_budget_usd: number | null;
  session_id: string | null;
  holds_slot: boolean;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  deleted_at: Date | null;
  end_cause: EndCause | null;
  end_detail: string | null;
  exit_code: number | null;
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  model_calls: number;
  cost_nanos: number | null;
  num_turns: number;
  key_name: string;
  key_created_by: string;
  webhook_state: WebhookState;
  webhook_attempts: number;
  webhook_last_status: number | null;
  mcp_server_names: string[];
  retry_of: string | null;
  offline_model: boolean;
  flow_version: number | null;
  ancestor_ids: string[];
  secret_fields: SecretField[];
  request_id: string | null;
  host_id: string | null;
  generation: number;
  workflow_id: string;
  workflow_started_at: Date | null;
  last_seq: number;
}

export interface RunRow extends RunOutlineRow {
  prompt: string;
  result: string | null;
  structured_output: string | null;
}

/** A run in lists of the API. */
export type ListedRun = Omit<Run, 'prompt'>;
export type ListedRunRow = Omit<RunRow, 'prompt'>;

export const toRun = (row: RunRow): Run => ({ ...toListedRun(row), prompt: row.prompt });

export const toListedRun = (row: ListedRunRow): ListedRun => ({
  ...toOutline(row),
  result: row.result,
  structuredOutput: row.structured_output,
});

export function toOutline(row: RunOutlineRow): RunOutline {
  return {
    runId: row.id,
    flowId: row.flow_id,
    projectId: row.project_id,
    name: row.name,
    // Only admission and label changes write it, from a map of strings.
    labels: JSON.parse(row.labels) as Run['labels'],
    status: row.status,
    agentStatus: row.agent_status,
    triggerType: row.trigger_type,
    promptBytes: row.prompt_bytes,
    partialMessages: row.partial_messages,
    timeoutSeconds: row.timeout_seconds,
    model: row.model,
    maxTurns: row.max_turns,
    maxBudgetUsd: row.max_budget_usd,
    sessionId: row.session_id,
    holdsSlot: row.holds_slot,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    deletedAt: row.deleted_at,
    endCause: row.end_cause,
    endDetail: row.end_detail,
    exitCode: row.exit_code,
    usage: usageOf(row),
    spending: { calls: row.model_calls, costNanos: row.cost_nanos },
    numTurns: row.num_turns,
    createdBy: { keyName: row.key_name, createdBy: row.key_created_by },
    webhook: {
      state: row.webhook_state,
      attempts: row.webhook_attempts,
      lastStatus: row.webhook_last_status,
    },
    mcpServerNames: row.mcp_server_names,
    retryOf: row.retry_of,
    offlineModel: row.offline_model,
    flowVersion: row.flow_version,
    ancestorIds: row.ancestor_ids,
    secretFields: row.secret_fields,
    requestId: row.request_id,
    hostId: row.host_id,
    generation: row.generation,
    workflowId: row.workflow_id,
    workflowStartedAt: row.workflow_started_at,
    lastSeq: row.last_seq,
  };
}

function usageOf(row: RunOutlineRow): Run['usage'] {
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadInputTokens: row.cache_read_input_tokens,
    cacheCreationInputTokens: row.cache_creation_input_tokens,
  };
}
