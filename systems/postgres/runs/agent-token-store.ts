import type { FlowOutline } from '../../../core/flows/flow.ts';
import { agentTokenRule } from '../../../core/keys/agent-tokens.ts';
import {
  type KeyRecord,
  type KeyRow,
  type KeyWithFlowRow,
  keyColumns,
  outlineOfFlow,
  toFlowOutline,
  toKeyRecord,
} from '../accounts/key-row.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db, Pool } from '../client/pool.ts';

/** A sandbox whose agent may use the service. */
export interface AgentRef {
  runId: string;
  generation: number;
}

/** The agent of a run that has not ended. */
export interface AgentHolder {
  runId: string;
  projectId: string;
  /** The key that the run counts for. It may be expired or revoked. Null: no key has started it. */
  key: KeyRecord | null;
  createdBy: { keyName: string; createdBy: string };
  /** Null: there is no such flow, or none in the path. */
  flow: FlowOutline | null;
}

export function createAgentTokenStore(pool: Pool, sealer: Sealer) {
  return {
    /**
     * Null if the token is not of this service, and once the run has a cause to end or a later
     * sandbox, or its flow no longer permits child runs.
     */
    findHolder: (token: string, flowId: string | null) =>
      findHolder(pool, sealedIn(sealer, token), flowId),
  };
}

export type AgentTokenStore = ReturnType<typeof createAgentTokenStore>;

const prefix = 'fra_';
const context = 'agent-token';

/** Tokens are not stored: a token is the ID of its sandbox, sealed with the service's key. */
export function createAgentToken(sealer: Sealer, { runId, generation }: AgentRef): string {
  const token = `${prefix}${sealer.seal(`${runId} ${generation}`, context).toString('base64url')}`;
  if (!agentTokenRule.pattern.test(token)) throw new Error('a token has another form');
  return token;
}

function sealedIn(sealer: Sealer, token: string): AgentRef | null {
  try {
    const sealed = Buffer.from(token.slice(prefix.length), 'base64url');
    const [runId = '', generation] = sealer.open(sealed, context).split(' ');
    return { runId, generation: Number(generation) };
  } catch {
    return null; // any text may be presented as a token
  }
}

type HolderRow = KeyWithFlowRow & {
  run_id: string;
  run_project_id: string;
  key_name: string;
  key_created_by: string;
};

async function findHolder(
  db: Db,
  agent: AgentRef | null,
  flowId: string | null,
): Promise<AgentHolder | null> {
  if (agent === null) return null;
  const text = `
    select k.*, ${outlineOfFlow}, r.id as run_id, r.project_id as run_project_id,
           r.key_name, r.key_created_by
    from runs r
    join flows own on own.id = r.flow_id and own.child_runs is not null
    left join (select ${keyColumns} from api_keys) k on k.id = r.key_id
    left join flows f on f.id = $3 and f.archived_at is null
    where r.id = $1 and r.generation = $2 and r.end_cause is null and r.deleted_at is null`;
  const values = [agent.runId, agent.generation, flowId];
  const { rows } = await db.query<HolderRow>({ name: 'find_agent', text, values });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    runId: row.run_id,
    projectId: row.run_project_id,
    key: hasKey(row) ? toKeyRecord(row) : null,
    createdBy: { keyName: row.key_name, createdBy: row.key_created_by },
    flow: toFlowOutline(row),
  };
}

/** The columns of the key are null if no key has started the run. */
const hasKey = (row: { id: string | null }): row is KeyRow => row.id !== null;
