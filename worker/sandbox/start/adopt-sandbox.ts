import type { RunEnd } from '../../../core/runs/end-cause.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { ListedSandbox } from '../../../systems/docker/container/list.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { attach, openSpool, release } from './attach.ts';
import { publishStart } from './publish-start.ts';

type Adoption =
  | { outcome: 'adopted'; sandbox: PreparedSandbox }
  /** Nothing is left to supervise. */
  | { outcome: 'ended'; end: RunEnd };

/**
 * Adopts a sandbox that was started before. Its output is read from where the log ends, and its
 * agent finds its socket again. If the container is missing, the rest of the spool is read, and the
 * sandbox counts as lost.
 */
export async function adoptSandbox(deps: SandboxDeps, ref: SandboxRef): Promise<Adoption> {
  const plan = await deps.runs.sandboxPlan(ref.runId);
  if (plan === null) throw new Error('the run does not exist');
  if (isFinished(deps, ref, plan)) return { outcome: 'ended', end: endOf(plan.run) };
  const container = await findContainer(deps, ref);
  const isStarted = container === null ? wasStarted(plan, ref) : hasStarted(container);
  if (!isStarted) throw new Error('this sandbox was never started');
  const attachment = await attach(deps, ref, plan);
  if (attachment === null) throw new Error('another host owns this run');
  try {
    const sandbox = await openSpool(deps, attachment, container?.containerId ?? null);
    if (plan.session === null && container?.state === 'paused') {
      // A previous process of this host fenced itself and did not unpause it.
      await deps.sandboxes.unpause(container.containerId);
    }
    await publishStart(deps, attachment);
    return { outcome: 'adopted', sandbox };
  } catch (error) {
    await release(attachment);
    throw error;
  }
}

/**
 * A session's sandbox that has released its slot was read to its end and stored. Its spool may be
 * gone, and a new spool in its place would look truncated.
 */
function isFinished(
  { hostId }: Pick<SandboxDeps, 'hostId'>,
  { generation }: SandboxRef,
  { run, session }: SandboxPlan,
): boolean {
  if (run.endedAt !== null || run.generation !== generation) return true;
  return session !== null && run.hostId !== hostId;
}

/** A sandbox is started at most once. */
export function wasStarted({ run, session }: SandboxPlan, { generation }: SandboxRef): boolean {
  return session === null ? run.startedAt !== null : session.startedGeneration >= generation;
}

/** Only this host's. Null if the engine has none. */
export async function findContainer(
  { sandboxes, hostId }: Pick<SandboxDeps, 'sandboxes' | 'hostId'>,
  ref: SandboxRef,
): Promise<ListedSandbox | null> {
  const found = await sandboxes.find(ref);
  return found?.hostId === hostId ? found : null;
}

export const hasStarted = ({ state }: ListedSandbox): boolean =>
  state === 'running' || state === 'paused' || state === 'exited';

function endOf({ endCause, endDetail, exitCode }: Run): RunEnd {
  return { cause: endCause ?? 'max_reconnects_exceeded', detail: endDetail, exitCode };
}
