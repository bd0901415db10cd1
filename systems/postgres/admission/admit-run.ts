import { limits } from '../../../core/limits.ts';
import type { Labels, TriggerType } from '../../../core/runs/run.ts';
import { nonEmptyFields, type RunConfig } from '../../../core/runs/run-config.ts';
import type { ChangeAuthor } from '../accounts/record-entry.ts';
import { sealConfig, sealContext } from './run-config-store.ts';
import type { Sealer } from './seal.ts';

/** A run to admit. */
export interface AdmitRun {
  runId: string;
  flowId: string;
  projectId: string;
  triggerType: TriggerType;
  /** Null if no API key started the run. */
  keyId: string | null;
  keyName: string;
  keyCreatedBy: string;
  /** Null if no API request started the run. */
  requestId: string | null;
  prompt: string;
  name: string | null;
  labels: Labels;
  partialMessages: boolean;
  callbackUrl: string | null;
  idempotencyKey: string | null;
  timeoutSeconds: number;
  /** Null, here and in the next two: the value of the flow applies. */
  model: string | null;
  maxTurns: number | null;
  maxBudgetUsd: number | null;
  /** JSON text. */
  outputSchema: string | null;
  /** The run that this one retries. */
  retryOf: string | null;
  /** The run whose agent starts this one; by default none. */
  parent?: { runId: string; depthMax: number };
  config: RunConfig;
  /** Postgres' disk is almost full, so a new run is rejected; by default it is not. */
  isPostgresDiskShort?: boolean;
  /** The operator who starts the run; by default the run has no entry in the audit log. */
  author?: ChangeAuthor;
}

/** Columns of `runs` by name, and the fields that `admit_run` declares. */
export function requestOf(
  { sealer, hostStaleMs }: { sealer: Sealer; hostStaleMs: number },
  input: AdmitRun,
): object {
  const { runId, config } = input;
  return {
    id: runId,
    flow_id: input.flowId,
    project_id: input.projectId,
    trigger_type: input.triggerType,
    name: input.name,
    labels: JSON.stringify(input.labels),
    prompt: input.prompt,
    partial_messages: input.partialMessages,
    callback_url: input.callbackUrl,
    key_id: input.keyId,
    key_name: input.keyName,
    key_created_by: input.keyCreatedBy,
    mcp_server_names: Object.keys(config.mcpServers),
    timeout_seconds: input.timeoutSeconds,
    model: input.model,
    max_turns: input.maxTurns,
    max_budget_usd: input.maxBudgetUsd,
    output_schema: input.outputSchema,
    retry_of: input.retryOf,
    parent_run_id: input.parent?.runId ?? null,
    depth_max: input.parent?.depthMax ?? null,
    secret_fields: nonEmptyFields(config),
    context_sealed: asBytea(sealContext(sealer, runId, config.context)),
    request_id: input.requestId,
    idempotency_key: input.idempotencyKey,
    idempotency_window: `${limits.idempotency.windowMs} ms`,
    merges_mcp_servers: config.mcpMode === 'merge',
    config_sealed: asBytea(sealConfig(sealer, runId, config)),
    postgres_disk_is_short: input.isPostgresDiskShort === true,
    host_stale_after: `${hostStaleMs} ms`,
  };
}

const asBytea = (bytes: Buffer | null): string | null => bytes && `\\x${bytes.toString('hex')}`;
