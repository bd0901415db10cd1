import type { RunOutline } from '../../../core/runs/run.ts';
import {
  type Check,
  checked,
  counted,
  type DoctorContext,
  type Problem,
  withoutTemporal,
} from '../types.ts';
import { named, theFirst } from './stuck-runs.ts';

const page = 100;
/** One request per run; beyond this number only the first are checked. */
const maxChecked = 1_000;

/** Compares the live runs with the open workflows, in both directions. */
export const workflowsCheck: Check = {
  name: 'workflows',
  needs: ['schema', 'temporal identity'],
  fixNeeds: ['workers'],
  onError: {
    code: 'workflows_unknown',
    message: 'The workflows cannot be listed',
    advice: 'Check the log of Temporal.',
  },
  async run(context) {
    const { temporal } = context;
    if (temporal === null) return withoutTemporal;
    const live = await liveRuns(context);
    const suspects = await withoutWorkflow(live, temporal);
    const unidentified = await withoutRun(context, temporal);
    if (suspects.length + unidentified.length > 0) await context.settle();
    const found = await withoutWorkflow(await stillLive(context, suspects), temporal);
    const left = unidentified.length > 0 ? await withoutRun(context, temporal) : [];
    const problems = [closedOf(found, context), missingOf(found), withoutRunOf(left)];
    const facts = [`${counted(live.length, 'live run')} checked`];
    return checked(facts, ...problems.filter((one) => one !== null));
  },
};

interface Suspect extends RunOutline {
  workflow: 'closed' | 'missing';
}

async function liveRuns({ reconcile }: DoctorContext): Promise<RunOutline[]> {
  const live: RunOutline[] = [];
  for (let full = true; full && live.length < maxChecked; ) {
    const next = await reconcile.activeRuns(page, live.at(-1)?.runId);
    live.push(...next);
    full = next.length === page;
  }
  return live;
}

async function withoutWorkflow(
  live: RunOutline[],
  temporal: NonNullable<DoctorContext['temporal']>,
): Promise<Suspect[]> {
  const found: Suspect[] = [];
  for (const run of live) {
    const workflow = await temporal.describe(run.workflowId);
    if (workflow !== 'running') found.push({ ...run, workflow });
  }
  return found;
}

async function stillLive({ runs }: DoctorContext, suspects: Suspect[]): Promise<RunOutline[]> {
  const now = await Promise.all(suspects.map(({ runId }) => runs.find(runId)));
  return now.filter((run) => run !== null && run.endedAt === null) as RunOutline[];
}

/** Safe to read after the workflows: the row of a run is written before its workflow starts. */
const withoutRun = async (
  { reconcile }: DoctorContext,
  temporal: NonNullable<DoctorContext['temporal']>,
): Promise<string[]> => reconcile.unknownWorkflows(await temporal.openWorkflows());

function closedOf(found: Suspect[], { fixes }: DoctorContext): Problem | null {
  const closed = found.filter(({ workflow }) => workflow === 'closed');
  if (closed.length === 0) return null;
  const runIds = closed.map(({ runId }) => runId);
  return {
    code: 'workflow_closed',
    message: `${counted(closed.length, 'run')} not ended although their workflow was closed in Temporal: ${named(closed)}.`,
    advice: 'A worker ends them with terminated_by_operator within seconds: check its log.',
    fix: () => fixes.endClosedRuns(runIds),
  };
}

/** No fix, because with the wrong TEMPORAL_ADDRESS every workflow would be missing. */
function missingOf(found: Suspect[]): Problem | null {
  const missing = found.filter(({ workflow }) => workflow === 'missing');
  if (missing.length === 0) return null;
  return {
    code: 'workflow_missing',
    message: `${counted(missing.length, 'run')} without a workflow in Temporal: ${named(missing)}.`,
    advice:
      'Check that TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are those of the service. If they are, Temporal has lost data: a worker ends these runs with max_reconnects_exceeded.',
  };
}

/** No fix, because with the wrong DATABASE_URL every workflow would be reported. */
function withoutRunOf(left: string[]): Problem | null {
  if (left.length === 0) return null;
  return {
    code: 'workflow_without_run',
    message: `${counted(left.length, 'workflow')} without a run in this database: ${theFirst(left)}.`,
    advice:
      'Check that DATABASE_URL and INSTANCE are those of the service. After a restore, a worker ends these workflows within two minutes. Otherwise run `temporal workflow terminate -w <id>`.',
  };
}
