import type { Run } from '../../../core/runs/run.ts';
import type { DoctorContext } from '../types.ts';
import { type Check, checked, counted, type Problem, skipped } from '../types.ts';
import { named, theFirst } from './stuck-runs.ts';

const page = 100;
/** Every one is asked after; with more than this at once, the first ones stand for all. */
const mostAsked = 1_000;

/** The runs that are alive in Postgres, against their workflows, and these against the runs. */
export const workflows: Check = {
  name: 'workflows',
  needs: ['schema', 'temporal'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'workflows_unknown',
    what: 'The workflows cannot be compared',
    advice: 'See the log of Temporal.',
  },
  async look(parts) {
    const { temporal } = parts;
    if (temporal === null) return skipped('TEMPORAL_ADDRESS is not set here');
    const live = await liveRuns(parts);
    const suspects = await withoutWorkflow(live, temporal);
    const strange = await withoutRun(parts, temporal);
    if (suspects.length + strange.length > 0) await parts.settle();
    const found = await withoutWorkflow(await stillLive(parts, suspects), temporal);
    const left = strange.length > 0 ? await withoutRun(parts, temporal) : [];
    const troubles = [closedOf(found, parts), missingOf(found), strangeOf(left)];
    const said = [`${counted(live.length, 'live run')} asked after`];
    return checked(said, ...troubles.filter((one) => one !== null));
  },
};

interface Suspect extends Run {
  workflow: 'closed' | 'missing';
}

async function liveRuns({ reconcile }: DoctorContext): Promise<Run[]> {
  const live: Run[] = [];
  for (let full = true; full && live.length < mostAsked; ) {
    const next = await reconcile.liveRuns(page, live.at(-1)?.runId);
    live.push(...next);
    full = next.length === page;
  }
  return live;
}

async function withoutWorkflow(
  live: Run[],
  temporal: NonNullable<DoctorContext['temporal']>,
): Promise<Suspect[]> {
  const found: Suspect[] = [];
  for (const run of live) {
    const workflow = await temporal.describe(run.workflowId);
    if (workflow !== 'running') found.push({ ...run, workflow });
  }
  return found;
}

async function stillLive({ runs }: DoctorContext, suspects: Suspect[]): Promise<Run[]> {
  const now = await Promise.all(suspects.map(({ runId }) => runs.find(runId)));
  return now.filter((run) => run !== null && run.endedAt === null) as Run[];
}

/** A run is there before its workflow is. */
const withoutRun = async (
  { reconcile }: DoctorContext,
  temporal: NonNullable<DoctorContext['temporal']>,
): Promise<string[]> => reconcile.unknownWorkflows(await temporal.openWorkflows());

function closedOf(found: Suspect[], { mends }: DoctorContext): Problem | null {
  const closed = found.filter(({ workflow }) => workflow === 'closed');
  if (closed.length === 0) return null;
  const runIds = closed.map(({ runId }) => runId);
  return {
    code: 'workflow_closed',
    what: `${counted(closed.length, 'run')} whose workflow was ended in Temporal, and which have not ended: ${named(closed)}.`,
    advice: 'A worker ends them as terminated_by_operator within seconds: see its log.',
    mend: () => mends.endClosed(runIds),
  };
}

/** Not mended: of another Temporal than theirs, all of them are missing. */
function missingOf(found: Suspect[]): Problem | null {
  const missing = found.filter(({ workflow }) => workflow === 'missing');
  if (missing.length === 0) return null;
  return {
    code: 'workflow_missing',
    what: `${counted(missing.length, 'run')} whose workflow Temporal does not know: ${named(missing)}.`,
    advice:
      'Make sure that TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are those of the service. If they are, Temporal has lost its memory: a worker ends these runs as max_reconnects_exceeded.',
  };
}

/** Not mended: with another database than theirs, every workflow looks like one of these. */
function strangeOf(left: string[]): Problem | null {
  if (left.length === 0) return null;
  return {
    code: 'workflow_without_run',
    what: `${counted(left.length, 'workflow')} of no run in this database: ${theFirst(left)}.`,
    advice:
      'Make sure that DATABASE_URL and INSTANCE are those of the service. After a restore a worker ends them within two minutes. Else end them with `temporal workflow terminate -w <id>`.',
  };
}
