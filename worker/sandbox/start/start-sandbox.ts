import { failpoint } from '../../../core/failpoint.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { SandboxSpec } from '../../../systems/docker/container/sandbox-spec.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps, SupervisorDeps } from '../deps.ts';
import { foldersOf } from '../sandbox-paths.ts';
import { restoreSession } from '../session/restore-session.ts';
import type { SupervisedSandbox } from '../supervised-sandbox.ts';
import { adoptSandbox } from './adopt-sandbox.ts';
import { hasEnded, type OpenedSandbox, openSandbox, wasStarted } from './attach.ts';
import { publishStart } from './publish-start.ts';
import { seedWorkspace } from './seed-workspace.ts';

/**
 * Starts a run's sandbox, or takes over the one that an earlier attempt has started. `over`: the run
 * was ended before. It is asked before anything is made and again when the container runs, because a
 * stop in between has found nothing to stop.
 */
export async function startSandbox(
  deps: SandboxDeps,
  ref: SandboxRef,
): Promise<SupervisedSandbox | 'cancelled'> {
  const askedAt = deps.now().toISOString();
  const plan = await deps.runs.sandboxPlan(ref.runId);
  if (plan === null || plan.run.endedAt !== null) return 'cancelled';
  if (wasStarted(plan, ref)) return adoptStarted(deps, ref);
  if (hasEnded(plan.run) || plan.run.generation > ref.generation) return 'cancelled';
  if (plan.session !== null && plan.run.hostId !== deps.hostId) return 'cancelled';
  failpoint('start.planned');
  const opened = await openSandbox(deps, ref, plan);
  if (opened === null) return recheckEnded(await deps.runs.find(ref.runId));
  opened.logger.debug({ askedAt }, 'sandbox_opened');
  try {
    await prepareWorkspace(deps, ref, plan);
    const { containerId, adopted } = await deps.sandboxes.ensureCreated(specOf(deps, ref, plan));
    opened.logger.info({ containerId, adopted }, 'sandbox_created');
    failpoint('start.created');
    const isSession = plan.session !== null;
    return await runContainer(deps, { ref, opened, containerId, isSession });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** What has run once is never made again, whatever has become of it: its configuration is gone. */
async function adoptStarted(
  deps: SandboxDeps,
  ref: SandboxRef,
): Promise<SupervisedSandbox | 'cancelled'> {
  const adoption = await adoptSandbox(deps, ref);
  return adoption.outcome === 'ended' ? 'cancelled' : adoption.sandbox;
}

function recheckEnded(run: Run | null): 'cancelled' {
  if (hasEnded(run)) return 'cancelled';
  throw new Error('another host looks after this run');
}

/** The first sandbox begins with the flow's files, a later one with what the last has left. */
async function prepareWorkspace(
  deps: SupervisorDeps,
  ref: SandboxRef,
  { session }: SandboxPlan,
): Promise<void> {
  const folders = foldersOf(deps.dataDir, ref);
  if (session !== null && (await restoreSession(deps, ref, folders))) return;
  await seedWorkspace(deps, ref, folders);
}

interface OpenedContainer {
  ref: SandboxRef;
  opened: OpenedSandbox;
  containerId: string;
  isSession: boolean;
}

/** The spool is opened before the agent's first word. */
async function runContainer(
  deps: SupervisorDeps,
  { ref, opened, containerId, isSession }: OpenedContainer,
): Promise<SupervisedSandbox | 'cancelled'> {
  const hold = await opened.prepare(containerId);
  failpoint('start.opened');
  await deps.sandboxes.start(containerId);
  failpoint('start.running');
  opened.logger.info({ containerId }, 'sandbox_started');
  await publishStart(deps, ref, { ...opened, isSession });
  failpoint('start.published');
  if (!hasEnded(await deps.runs.find(ref.runId))) return hold();
  await deps.sandboxes.signal(containerId, 'SIGKILL');
  await opened.close();
  return 'cancelled';
}

function specOf(
  { dataDir, hostId, image, now }: SupervisorDeps,
  ref: SandboxRef,
  { run, flow }: SandboxPlan,
): SandboxSpec {
  const { workspace, spool, config, socket } = foldersOf(dataDir, ref);
  return {
    ...ref,
    projectId: run.projectId,
    image: flow.image ?? image,
    hostId,
    folders: { workspace, spool, config, socket },
    memoryBytes: flow.resources.memoryBytes,
    cpus: flow.resources.cpus,
    deadline: new Date(now().getTime() + run.timeoutSeconds * 1_000),
  };
}
