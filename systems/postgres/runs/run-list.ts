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
  const statement = filter.agentStatus === undefined ? ofAnyAgent : ofAgentStatus;
  const { rows } = await pool.query<ListedRunRow & { found: number }>(statement, [
    projectId,
    filter.flowId ?? null,
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
    filter.flowIds ?? null,
  ]);
  const { page, lastBeforeNext } = cutPage(rows, limit);
  return { runs: page.map(toListedRun), next: cursorOf(lastBeforeNext) };
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
const foundRuns = (agentStatus: string): string => `
  select r.*, l.last_seq
  from runs r join run_logs l on l.run_id = r.id
  where r.project_id = $1
    and r.deleted_at is null
    and ($2::uuid is null or r.flow_id = $2)
    and ($14::uuid[] is null or r.flow_id = any($14))
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

const listOf = (found: string): string => `
  select ${listedColumns}, r.last_seq, r.found
  from (${withBytesBefore(found, latestFirst)}) r
  where r.bytes_before < $13
  order by r.created_at desc, r.id desc`;

const ofAnyAgent = listOf(foundRuns('$4::text is null'));

/** The index has only the runs that occupy no slot. The others are few. */
const ofAgentStatus = listOf(`
  (${foundRuns('r.resting_agent_status = $4')})
  union all
  (${foundRuns('occupies_slot(r) and r.agent_status = $4')})
  order by created_at desc, id desc
  limit $12`);
