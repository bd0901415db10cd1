// Rows of keys, and of keys with the flow in the path of a request.

import type { FlowOutline } from '../../../core/flows/flow.ts';
import type { KeyScopes } from '../../../core/keys/key-scopes.ts';
import { type FlowRow, joinedFlowColumns } from './flow-row.ts';

export interface KeyRecord {
  keyId: string;
  projectId: string;
  name: string;
  createdBy: string;
  /** The readable part of the key. */
  shownPrefix: string;
  rateLimitRpm: number;
  scopes: KeyScopes;
  /** For the model calls of its runs in a month. Null: unlimited. */
  monthlyBudgetUsd: number | null;
  /** Decided by the database's clock at the time of reading. */
  state: 'active' | 'expired' | 'revoked';
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

export interface KeyRow {
  id: string;
  project_id: string;
  name: string;
  created_by: string;
  shown_prefix: string;
  rate_limit_rpm: number;
  scopes: string[] | null;
  monthly_budget_usd: number | null;
  state: KeyRecord['state'];
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export const keyColumns = `
  id, project_id, name, created_by, shown_prefix, rate_limit_rpm, scopes, monthly_budget_usd,
  expires_at, revoked_at, last_used_at, created_at,
  case
    when revoked_at is not null then 'revoked'
    when expires_at <= db_clock() then 'expired'
    else 'active'
  end as state`;

export function toKeyRecord(row: KeyRow): KeyRecord {
  return {
    keyId: row.id,
    projectId: row.project_id,
    name: row.name,
    createdBy: row.created_by,
    shownPrefix: row.shown_prefix,
    rateLimitRpm: row.rate_limit_rpm,
    scopes: row.scopes,
    monthlyBudgetUsd: row.monthly_budget_usd,
    state: row.state,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}

const outlineColumns = [
  'id',
  'project_id',
  'model',
  'mcp_server_names',
  'child_runs',
  'timeout_seconds',
  'max_turns',
  'max_budget_usd',
] as const;

export type KeyWithFlowRow = KeyRow & (FlowOutlineRow | { flow_id: null });

type FlowOutlineRow = {
  [Name in (typeof outlineColumns)[number] as `flow_${Name}`]: FlowRow[Name];
};

export const outlineOfFlow = joinedFlowColumns('flow_', outlineColumns);

export function toFlowOutline(row: FlowOutlineRow | { flow_id: null }): FlowOutline | null {
  if (row.flow_id === null) return null;
  return {
    flowId: row.flow_id,
    projectId: row.flow_project_id,
    model: row.flow_model,
    mcpServerNames: row.flow_mcp_server_names,
    childRuns: row.flow_child_runs,
    timeoutSeconds: row.flow_timeout_seconds,
    limits: { maxTurns: row.flow_max_turns, maxBudgetUsd: row.flow_max_budget_usd },
  };
}
