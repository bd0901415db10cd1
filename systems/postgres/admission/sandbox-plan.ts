import type { Flow, FlowSecrets } from '../../../core/flows/flow.ts';
import type { ReachedBudget } from '../../../core/metering/monthly-budget.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { SessionPlan } from '../../../core/sessions/session.ts';
import { type FlowRow, joinedFlowColumns, toFlow } from '../accounts/flow-row.ts';
import { openFlowSecrets } from '../accounts/flow-store.ts';
import type { Db } from '../client/pool.ts';
import { type RunRow, runColumns, toRun } from '../runs/run-row.ts';
import { openSessionConfig } from '../sessions/session-config-store.ts';
import { openConfig } from './run-config-store.ts';
import type { Sealer } from './seal.ts';

/** Everything a host needs to start a run's sandbox; contains secrets. */
export interface SandboxPlan {
  run: Run;
  flow: Flow;
  secrets: FlowSecrets;
  /** Null once a sandbox has acknowledged it, or, of a session, once the session has ended. */
  config: RunConfig | null;
  /** JSON schema of the run's output, as text. */
  outputSchema: string | null;
  reachedBudget: ReachedBudget;
  /** Whether other runs spend a budget of its tree too. */
  hasTreeBudget: boolean;
  /** Null for a plain run. */
  session: SessionPlan | null;
}

/** A row has the columns of a RunRow and these. Those of the flow have a prefix. */
interface PlanRow extends RunRow {
  secrets_sealed: Buffer | null;
  config_sealed: Buffer | null;
  session_config_sealed: Buffer | null;
  output_schema: string | null;
  reached_budget: ReachedBudget;
  has_tree_budget: boolean;
  started_generation: number | null;
  is_claimed: boolean;
  has_unsaved_turn: boolean;
  [flowColumn: `flow.${string}`]: unknown;
}

const flowPrefix = 'flow.';

const planStatement = `
  select ${runColumns}, l.last_seq, r.output_schema, ${joinedFlowColumns(flowPrefix)}, f.secrets_sealed,
    c.sealed as config_sealed, s.config_sealed as session_config_sealed, s.started_generation,
    r.waiting_since is null as is_claimed,
    s.run_id is not null and has_unsaved_turn(s) as has_unsaved_turn,
    budget_of_run(reached_budget(r.project_id, r.flow_id, r.key_id), t.reached) as reached_budget,
    t.reached is not null as has_tree_budget
  from runs r
  join run_logs l on l.run_id = r.id
  join flows f on f.id = r.flow_id
  left join run_configs c on c.run_id = r.id
  left join sessions s on s.run_id = r.id
  cross join lateral reached_tree_budget(r.id, r.ancestor_ids) t(reached)
  where r.id = $1`;

/** One statement, so that its parts belong together. Null if there is no such run. */
export async function readSandboxPlan(
  db: Db,
  sealer: Sealer,
  runId: string,
): Promise<SandboxPlan | null> {
  const statement = { name: 'sandbox_plan', text: planStatement, values: [runId] };
  const row = (await db.query<PlanRow>(statement)).rows[0];
  if (row === undefined) return null;
  const run = toRun(row);
  return {
    run,
    flow: toFlow(flowRowOf(row)),
    secrets: openFlowSecrets(sealer, run.flowId, row.secrets_sealed),
    config: configOf(sealer, run, row),
    outputSchema: row.output_schema,
    reachedBudget: row.reached_budget,
    hasTreeBudget: row.has_tree_budget,
    session: sessionOf(run, row),
  };
}

/** The statement selects every column of a FlowRow. */
const flowRowOf = (row: PlanRow): FlowRow =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name.startsWith(flowPrefix))
      .map(([name, value]) => [name.slice(flowPrefix.length), value]),
  ) as unknown as FlowRow;

function configOf(sealer: Sealer, { runId, sessionId }: Run, row: PlanRow): RunConfig | null {
  if (sessionId === null) return row.config_sealed && openConfig(sealer, runId, row.config_sealed);
  return row.session_config_sealed && openSessionConfig(sealer, runId, row.session_config_sealed);
}

function sessionOf({ sessionId }: Run, row: PlanRow): SessionPlan | null {
  if (sessionId === null || row.started_generation === null) return null;
  const { started_generation: startedGeneration, has_unsaved_turn: hasUnsavedTurn } = row;
  return { sessionId, startedGeneration, isClaimed: row.is_claimed, hasUnsavedTurn };
}
