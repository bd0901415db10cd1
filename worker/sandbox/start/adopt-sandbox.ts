import type { RunEnd } from '../../../core/runs/end-cause.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps, SupervisorDeps } from '../deps.ts';
import type { SupervisedSandbox } from '../supervised-sandbox.ts';
import { openSandbox, wasStarted } from './attach.ts';
import { publishStart } from './publish-start.ts';

export type Adoption =
  | { outcome: 'adopted'; sandbox: SupervisedSandbox }
  /** Nothing is left to look after. */
  | { outcome: 'ended'; end: RunEnd };

/**
 * Takes up a sandbox that was started before: its output is read on from where the log has got to,
 * its agent finds its socket again. One whose container is gone is read to the end of its spool, and
 * then counts as lost.
 */
export async function adoptSandbox(deps: SandboxDeps, ref: SandboxRef): Promise<Adoption> {
  const plan = await deps.runs.sandboxPlan(ref.runId);
  if (plan === null) throw new Error('there is no such run');
  if (isFinished(deps, ref, plan)) return { outcome: 'ended', end: endOf(plan.run) };
  const container = await findContainer(deps, ref);
  const isStarted = container === null ? wasStarted(plan, ref) : hasStarted(container);
  if (!isStarted) throw new Error('this sandbox was never started');
  const opened = await openSandbox(deps, ref, plan);
  if (opened === null) throw new Error('another host looks after this run');
  try {
    const hold = await opened.prepare(container?.containerId ?? null);
    if (plan.session === null && container?.state === 'paused') {
      // Held still by an earlier life of this host, which did not come to let it go on.
      await deps.sandboxes.unpause(container.containerId);
    }
    await publishStart(deps, ref, { ...opened, isSession: plan.session !== null });
    return { outcome: 'adopted', sandbox: hold() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * One of a session that has given its place back was read to its end and stored: its spool may be gone
 * by now, and a new one in its stead would look as if somebody had cut it short.
 */
function isFinished(
  { hostId }: Pick<SupervisorDeps, 'hostId'>,
  { generation }: SandboxRef,
  { run, session }: SandboxPlan,
): boolean {
  if (run.endedAt !== null || run.generation !== generation) return true;
  return session !== null && run.hostId !== hostId;
}

/** This host's own; null where the engine has none. */
export async function findContainer(
  { sandboxes, hostId }: Pick<SupervisorDeps, 'sandboxes' | 'hostId'>,
  { runId, generation }: SandboxRef,
): Promise<ListedSandbox | null> {
  const isIt = (listed: ListedSandbox): boolean =>
    listed.hostId === hostId && listed.runId === runId && listed.generation === generation;
  return (await sandboxes.list()).find(isIt) ?? null;
}

export const hasStarted = ({ state }: ListedSandbox): boolean =>
  state === 'running' || state === 'paused' || state === 'exited';

function endOf({ endCause, endDetail, exitCode }: Run): RunEnd {
  return { cause: endCause ?? 'max_reconnects_exceeded', detail: endDetail, exitCode };
}
