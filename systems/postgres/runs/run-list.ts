import type { AgentStatus, RunStatus, TriggerType } from '../../../core/runs/run.ts';
import { bytesOf, cutPage, withBytesBefore } from '../client/page-by-bytes.ts';
import type { Pool } from '../client/pool.ts';
import { type ListedRun, type ListedRunRow, listedColumns, toListedRun } from './run-row.ts';

/** A field that is left out does not filter. */
interface RunFilter {
  flowId?: string | undefined;
  /** The run is of one of these flows; null: of any. */
  flowIds?: readonly string[] | null;
  status?: RunStatus | undefined;
  agentStatus?: AgentStatus | undefined;
  triggerType?: TriggerType | undefined;
  sessionId?: string | undefined;
  /** The run has all of these. */
  labels?: [key: string, value: string][] | undefined;
  /** Inclusive. */
  createdAfter?: Date | undefined;
  /** Exclusive. */
  createdBefore?: Date | undefined;
}

/** The position of a run in the list, even if the run was deleted since. */
export interface RunCursor {
  createdAt: Date;
  runId: string;
}

export interface RunListQuery {
  filter: RunFilter;
  limit: number;
  /** A page ends with the run whose results reach this size, so it may be shorter than `limit`. */
  maxBytes: number;
  /** A page's `next`. */
  after?: RunCursor | undefined;
}

interface RunPage {
  runs: ListedRun[];
  next: RunCursor | null;
}

/**
 * Latest first. Runs of a project are admitted one after another with increasing times, so new runs
 * come before the first page and do not shift later ones.
 */
export async function listRuns(
  pool: Pool,
  projectId: string,
  { filter, limit, maxBytes, after }: RunListQuery,
): Promise<RunPage> {
  const flows = flowsOf(filter);
  const statements = flows === null ? ofAnyFlow : ofFlows;
  const statement =
    filter.agentStatus === undefined ? statements.ofAnyAgent : statements.ofAgentStatus;
  const { rows } = await pool.query<ListedRunRow & { found: number }>(statement, [
    projectId,
    flows,
    filter.status ?? null,
    filter.agentStatus ?? null,
    filter.triggerType ?? null,
    filter.sessionId ?? null,
    filter.labels?.map(labelPair) ?? null,
    filter.createdAfter ?? null,
    filter.createdBefore ?? null,
    after?.createdAt ?? null,
    after?.runId ?? null,
    limit + 1,
    maxBytes,
  ]);
  const { page, lastBeforeNext } = cutPage(rows, limit);
  return { runs: page.map(toListedRun), next: cursorOf(lastBeforeNext) };
}

/** The flows whose runs are listed; null: all. */
function flowsOf({ flowId, flowIds = null }: RunFilter): readonly string[] | null {
  if (flowId === undefined) return flowIds;
  return flowIds === null || flowIds.includes(flowId.toLowerCase()) ? [flowId] : [];
}

/** The cursor of the page after this run; null if there is none. */
export const cursorOf = (row: Pick<ListedRunRow, 'id' | 'created_at'> | undefined) =>
  row === undefined ? null : { createdAt: row.created_at, runId: row.id };

/** In the form that `label_pairs` returns. */
export const labelPair = ([key, value]: [string, string]): string =>
  `${JSON.stringify(key)}:${JSON.stringify(value)}`;

/** Runs and sessions are listed latest first, and their results can be long. */
export const latestFirst = {
  bytes: bytesOf('result', 'structured_output'),
  order: 'f.created_at desc, f.id desc',
};

/**
 * Planned at each call, so unused filters cost nothing. Running runs occupy a slot, which is
 * repeated so that the index applies.
 */
const foundRuns = (ofFlow: string, agentStatus: string): string => `
  select r.* from runs r
  where ${ofFlow}
    and r.deleted_at is null
    and ($3::text is null or r.status = $3)
    and ($3 is distinct from 'running' or occupies_slot(r))
    and ${agentStatus}
    and ($5::text is null or r.trigger_type = $5)
    and ($6::text is null or r.session_id = $6)
    and ($7::text[] is null or label_pairs(r.labels) @> $7)
    and ($8::timestamptz is null or r.created_at >= $8)
    and ($9::timestamptz is null or r.created_at < $9)
    and ($10::timestamptz is null or (r.created_at, r.id) < ($10, $11::uuid))
  order by r.created_at desc, r.id desc
  limit $12`;

/** The logs are joined to the page alone. */
const withLogs = (found: string): string => `
  select r.*, l.last_seq from (${found}) r join run_logs l on l.run_id = r.id`;

const listOf = (found: string): string => `
  select ${listedColumns}, r.last_seq, r.found
  from (${withBytesBefore(withLogs(found), latestFirst)}) r
  where r.bytes_before < $13
  order by r.created_at desc, r.id desc`;

/** `found` selects the latest runs whose agents are of this kind. */
const statementsOf = (found: (agentStatus: string) => string) => ({
  ofAnyAgent: listOf(found('$4::text is null')),
  /** The index has only the runs that occupy no slot. The others are few. */
  ofAgentStatus: listOf(`
    (${found('r.resting_agent_status = $4')})
    union all
    (${found('occupies_slot(r) and r.agent_status = $4')})
    order by created_at desc, id desc
    limit $12`),
});

/** Uses the parameter for flows as well, because Postgres needs its type. */
const ofAnyFlow = statementsOf((agentStatus) =>
  foundRuns('r.project_id = $1 and $2::uuid[] is null', agentStatus),
);

/**
 * The latest runs of each flow, because no index has the runs of several flows in order. The
 * project is repeated only for a filter that has an index of the project. Without a filter Postgres
 * would read the project's runs in order, and find those of a flow without new runs at the end.
 */
const ofFlows = statementsOf((agentStatus) => {
  const isUnfiltered =
    '$3::text is null and $4::text is null and $5::text is null and $6::text is null';
  const ofFlow = `r.flow_id = flow.id and ((${isUnfiltered}) or r.project_id = $1)`;
  return `
    select found.*
    from flows flow cross join lateral (${foundRuns(ofFlow, agentStatus)}) found
    where flow.project_id = $1 and flow.id = any($2::uuid[])
    order by found.created_at desc, found.id desc
    limit $12`;
});
