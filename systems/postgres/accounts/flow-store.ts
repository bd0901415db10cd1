import { randomUUID } from 'node:crypto';
import { defaultFlow, type Flow, type FlowSecrets } from '../../../core/flows/flow.ts';
import { changedSecrets, type FlowDefinition } from '../../../core/flows/flow-version.ts';
import type { Sealer } from '../admission/seal.ts';
import { bytesOf, cutPage, withBytesBefore } from '../client/page-by-bytes.ts';
import type { Db, Pool } from '../client/pool.ts';
import { inBriefTransaction } from '../client/transaction.ts';
import { archiveFlow } from './archive-flow.ts';
import { type FlowRow, flowColumns, toFlow } from './flow-row.ts';
import { recordVersion } from './flows/record-version.ts';
import { pauseSchedule } from './pause-schedule.ts';

/** The fields that a client sets; a field that is left out has its default. */
export type FlowFields = Omit<FlowDefinition, 'mcpServerNames' | 'envNames'> & {
  secrets: FlowSecrets;
};

export type NewFlow = Partial<FlowFields> & { projectId: string; name: string; flowId?: string };

export type FlowDecision = (before: { flow: Flow; secrets: FlowSecrets }) => Partial<FlowFields>;

interface FlowPageQuery {
  limit: number;
  /** A page ends with the flow whose prompt and instructions reach this size. */
  maxBytes: number;
  /** A page's `next`. */
  after?: string;
  /** The archived flows instead of those in use. */
  isArchived?: boolean;
  /** Only these flows; null: all of the project. */
  flowIds?: readonly string[] | null;
}

interface FlowPage {
  flows: Flow[];
  next: string | null;
}

export type FlowStore = ReturnType<typeof createFlowStore>;

export function createFlowStore(pool: Pool, sealer: Sealer) {
  return {
    create: (flow: NewFlow) =>
      inBriefTransaction(pool, (db) => insertFlow(db, sealer, { ...flow, changedBy: null })),
    find: (flowId: string) => findFlow(pool, flowId),
    existsByName: (projectId: string, name: string) => existsByName(pool, projectId, name),
    listByProject: (projectId: string, query: FlowPageQuery) => listFlows(pool, projectId, query),
    /**
     * Replaces the fields that `decide` returns for the current flow, which is locked meanwhile;
     * secrets are replaced as a whole. Null if there is no such flow.
     */
    change: (flowId: string, decide: FlowDecision) =>
      changeFlow(pool, sealer, { flowId, decide, changedBy: null }),
    /** False if nothing changes, for example because the flow has no schedule. */
    pauseSchedule: (flowId: string, isPaused: boolean) => pauseSchedule(pool, { flowId, isPaused }),
    /** False if nothing changes. */
    archive: (flowId: string, isArchived: boolean) => archiveFlow(pool, { flowId, isArchived }),
    readSecrets: (flowId: string) => readFlowSecrets(pool, sealer, flowId),
  };
}

/** The changes of flows within a transaction. */
export type FlowChanges = ReturnType<typeof createFlowChanges>;

export function createFlowChanges(db: Db, sealer: Sealer) {
  return {
    create: (flow: NewFlow & ChangedBy) => insertFlow(db, sealer, flow),
    change: (flowId: string, change: Omit<FlowChange, 'flowId'>) =>
      changeLockedFlow(db, sealer, { flowId, ...change }),
    pauseSchedule: (flowId: string, isPaused: boolean) => pauseSchedule(db, { flowId, isPaused }),
    archive: (flowId: string, isArchived: boolean) => archiveFlow(db, { flowId, isArchived }),
  };
}

async function insertFlow(
  db: Db,
  sealer: Sealer,
  { changedBy, ...flow }: NewFlow & ChangedBy,
): Promise<Flow> {
  const flowId = flow.flowId ?? randomUUID();
  const fields = columnsOf(sealer, { ...defaultFlow, ...flow, flowId });
  const names = ['id', 'project_id', ...fields.map(([name]) => name)];
  const { rows } = await db.query<FlowRow>(
    `insert into flows (${names.join(', ')})
     values (${names.map((_, i) => `$${i + 1}`).join(', ')})
     returning ${flowColumns}`,
    [flowId, flow.projectId, ...fields.map(([, value]) => value)],
  );
  if (!rows[0]) throw new Error('the flow was not stored');
  await recordVersion(db, { flowId, changedBy });
  return toFlow(rows[0]);
}

async function updateFlow(
  db: Db,
  sealer: Sealer,
  patch: Partial<FlowFields> & { flowId: string },
): Promise<Flow | null> {
  const fields = columnsOf(sealer, patch);
  const changes = fields.map(([name], i) => `${name} = $${i + 2}`);
  const { rows } = await db.query<FlowRow>(
    `update flows
     set ${[...changes, 'version = version + 1', 'updated_at = db_clock()'].join(', ')}
     where id = $1
     returning ${flowColumns}`,
    [patch.flowId, ...fields.map(([, value]) => value)],
  );
  return rows[0] ? toFlow(rows[0]) : null;
}

interface ChangedBy {
  /** Who has made the version; null: not known. */
  changedBy: string | null;
}

interface FlowChange extends ChangedBy {
  flowId: string;
  decide: FlowDecision;
}

/** If `decide` throws, the flow is unchanged. */
const changeFlow = (pool: Pool, sealer: Sealer, change: FlowChange): Promise<Flow | null> =>
  inBriefTransaction(pool, (db) => changeLockedFlow(db, sealer, change));

async function changeLockedFlow(
  db: Db,
  sealer: Sealer,
  { flowId, decide, changedBy }: FlowChange,
): Promise<Flow | null> {
  await db.query('select from flows where id = $1 for no key update', [flowId]);
  const flow = await findFlow(db, flowId);
  if (flow === null) return null;
  const secrets = await readFlowSecrets(db, sealer, flowId);
  const fields = decide({ flow, secrets });
  const changed = await updateFlow(db, sealer, { ...fields, flowId });
  const names = changedSecrets(secrets, fields.secrets ?? secrets);
  await recordVersion(db, { flowId, changedBy, secrets: names });
  return changed;
}

/** Columns and values of the fields that are set. Column names never come from outside. */
function columnsOf(
  sealer: Sealer,
  flow: Partial<FlowFields> & { flowId: string },
): [name: string, value: unknown][] {
  const { secrets } = flow;
  const all: [string, unknown][] = [
    ['name', flow.name],
    ['description', flow.description],
    ['prompt', flow.prompt],
    ['instructions', flow.instructions],
    ['model', flow.model],
    ['allowed_models', flow.allowedModels],
    ['disallowed_tools', flow.disallowedTools],
    ['image', flow.image],
    ['memory_bytes', flow.resources?.memoryBytes],
    ['cpus', flow.resources?.cpus],
    ['network_policy', flow.network?.policy],
    ['allowed_hosts', flow.network?.allowedHosts],
    ['timeout_seconds', flow.timeoutSeconds],
    ['max_turns', flow.limits?.maxTurns],
    ['max_budget_usd', flow.limits?.maxBudgetUsd],
    ['monthly_budget_usd', flow.monthlyBudgetUsd],
    ['child_runs', flow.childRuns],
    ['runner', flow.runner],
    ['schedule_cron', flow.schedule === null ? null : flow.schedule?.cron],
    ['schedule_timezone', flow.schedule === null ? null : flow.schedule?.timezone],
    ['schedule_paused_at', flow.schedule === null ? null : undefined],
    ['mcp_server_names', secrets && Object.keys(secrets.mcpServers).sort()],
    ['env_names', secrets && Object.keys(secrets.env).sort()],
    ['secrets_sealed', secrets && sealer.seal(JSON.stringify(secrets), contextOf(flow.flowId))],
  ];
  return all.filter(([, value]) => value !== undefined);
}

async function findFlow(db: Db, flowId: string): Promise<Flow | null> {
  const text = `select ${flowColumns} from flows where id = $1`;
  const { rows } = await db.query<FlowRow>({ name: 'find_flow', text, values: [flowId] });
  return rows[0] ? toFlow(rows[0]) : null;
}

async function existsByName(db: Db, projectId: string, name: string): Promise<boolean> {
  const text =
    'select from flows where project_id = $1 and name = $2 and archived_at is null limit 1';
  return (await db.query(text, [projectId, name])).rowCount === 1;
}

async function listFlows(db: Db, projectId: string, query: FlowPageQuery): Promise<FlowPage> {
  const { limit, maxBytes, after, flowIds, isArchived = false } = query;
  const range = [projectId, after ?? null, limit + 1, maxBytes];
  const values = [...range, flowIds ?? null, isArchived];
  const { rows } = await db.query<FlowRow & { found: number }>(listStatement, values);
  const { page, lastBeforeNext } = cutPage(rows, limit);
  return { flows: page.map(toFlow), next: lastBeforeNext?.id ?? null };
}

const foundFlows = `
  select * from flows
  where project_id = $1
    and ($5::uuid[] is null or id = any($5))
    and (archived_at is not null) = $6
    and ($2::uuid is null
         or (created_at, id) > (select f.created_at, f.id from flows f where f.id = $2))
  order by created_at, id
  limit $3`;

const oldestFirst = { bytes: bytesOf('prompt', 'instructions'), order: 'f.created_at, f.id' };

const listStatement = `
  select ${flowColumns}, found
  from (${withBytesBefore(foundFlows, oldestFirst)}) f
  where bytes_before < $4
  order by created_at, id`;

async function readFlowSecrets(db: Db, sealer: Sealer, flowId: string): Promise<FlowSecrets> {
  const text = 'select secrets_sealed as sealed from flows where id = $1';
  const { rows } = await db.query<{ sealed: Buffer | null }>(text, [flowId]);
  return openFlowSecrets(sealer, flowId, rows[0]?.sealed ?? null);
}

export function openFlowSecrets(
  sealer: Sealer,
  flowId: string,
  sealed: Buffer | null,
): FlowSecrets {
  if (sealed === null) return { env: {}, mcpServers: {} };
  // Authenticated by the seal: only columnsOf wrote this text.
  return JSON.parse(sealer.open(sealed, contextOf(flowId))) as FlowSecrets;
}

const contextOf = (flowId: string): string => `flow:${flowId}`;
