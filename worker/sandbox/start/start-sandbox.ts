import { failpoint } from '../../../core/failpoint.ts';
import type { Run } from '../../../core/runs/run.ts';
import type { SandboxPlan } from '../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { sandboxKey } from '../sandbox-key.ts';
import { wasStarted } from './adopt-sandbox.ts';
import { type Attachment, attach, openSpool, release } from './attach.ts';
import { prepareWorkspace } from './prepare-workspace.ts';
import { publishStart } from './publish-start.ts';
import type { Admission } from './start-limiter.ts';

type StartResult =
  | { outcome: 'started'; sandbox: PreparedSandbox }
  /** Its secrets may be deleted, so it is never created again. The caller adopts it. */
  | { outcome: 'already_started' }
  | Obsolete;

/** The run has ended, or a later sandbox of it has replaced this one. */
type Obsolete = { outcome: 'already_ended' } | { outcome: 'superseded' };

/**
 * Starts a run's sandbox. A stop of the run, or its move to another host, finds no container to
 * stop while the start waits or is in progress. So both are checked before the wait, after
 * it, and again when the container is running.
 */
export async function startSandbox(
  deps: SandboxDeps,
  ref: SandboxRef,
  startedBy: StartedBy = 'activity',
): Promise<StartResult> {
  const requestedAt = deps.now().toISOString();
  const plan = await readPlan(deps, ref, startedBy);
  if ('outcome' in plan) return plan;
  const key = sandboxKey(ref);
  const isWakeUp = plan.session !== null && plan.session.startedGeneration > 0;
  const admission = await deps.startLimiter.acquire({ key, isWakeUp });
  let isStarted = false;
  try {
    const current = admission === 'delayed' ? await readPlan(deps, ref, startedBy) : plan;
    if ('outcome' in current) return current;
    const received = { requestedAt, admission, startedBy };
    const result = await startPlanned(deps, ref, { plan: current, ...received });
    isStarted = result.outcome === 'started';
    return result;
  } finally {
    if (!isStarted) deps.startLimiter.release(key);
  }
}

/** What has requested a start: the activity of the workflow, or a hint. */
type StartedBy = 'activity' | 'hint';

type NotStarted = Exclude<StartResult, { outcome: 'started' }>;

/** Returns the outcome instead if the sandbox must not be started. */
async function readPlan(
  { runs, hostId }: SandboxDeps,
  ref: SandboxRef,
  startedBy: StartedBy,
): Promise<SandboxPlan | NotStarted> {
  const plan = await runs.sandboxPlan(ref.runId);
  if (plan === null || plan.run.endedAt !== null) return { outcome: 'already_ended' };
  if (plan.run.generation > ref.generation) return { outcome: 'superseded' };
  if (startedBy === 'hint' && plan.run.generation < ref.generation)
    return { outcome: 'superseded' };
  if (wasStarted(plan, ref)) return { outcome: 'already_started' };
  if (plan.run.endCause !== null) return { outcome: 'already_ended' };
  const mayHaveMoved = plan.session !== null || startedBy === 'hint';
  if (mayHaveMoved && plan.run.hostId !== hostId) return { outcome: 'superseded' };
  return plan;
}

interface Received {
  plan: SandboxPlan;
  requestedAt: string;
  admission: Admission;
  startedBy: StartedBy;
}

async function startPlanned(
  deps: SandboxDeps,
  ref: SandboxRef,
  { plan, ...received }: Received,
): Promise<StartResult> {
  failpoint('start.planned');
  const attachment = await attach(deps, ref, plan);
  if (attachment === null) {
    const obsolete = findObsolete(await deps.runs.find(ref.runId), ref);
    if (obsolete !== null) return obsolete;
    throw new Error('another host owns this run');
  }
  const { logger } = attachment;
  logger.debug(received, 'sandbox_attached');
  try {
    await prepareWorkspace(deps, attachment);
    const containerId = await ensureContainer(deps, attachment);
    const sandbox = await openSpool(deps, attachment, containerId);
    failpoint('start.opened');
    await deps.sandboxes.start(containerId);
    failpoint('start.running');
    logger.info({ containerId, startedBy: received.startedBy }, 'sandbox_started');
    await publishStart(deps, attachment);
    failpoint('start.published');
    const obsolete = findObsolete(await deps.runs.find(ref.runId), ref);
    if (obsolete === null) return { outcome: 'started', sandbox };
    await deps.sandboxes.signal(containerId, 'SIGKILL');
    await release(attachment);
    return obsolete;
  } catch (error) {
    await release(attachment);
    throw error;
  }
}

/** Null if the run still needs this sandbox. */
function findObsolete(run: Run | null, { generation }: SandboxRef): Obsolete | null {
  if (run !== null && run.generation > generation) return { outcome: 'superseded' };
  return run === null || run.endCause !== null ? { outcome: 'already_ended' } : null;
}

/** Creates the container, or finds the one that a previous attempt has created. */
async function ensureContainer(
  { sandboxes, hostId, image, now }: SandboxDeps,
  { ref, plan, folders, logger }: Attachment,
): Promise<string> {
  const { run, flow } = plan;
  const { workspace, spool, config, socket } = folders;
  const { containerId, adopted } = await sandboxes.ensureCreated({
    ...ref,
    projectId: run.projectId,
    image: flow.image ?? image,
    hostId,
    folders: { workspace, spool, config, socket },
    memoryBytes: flow.resources.memoryBytes,
    cpus: flow.resources.cpus,
    deadline: new Date(now().getTime() + run.timeoutSeconds * 1_000),
  });
  logger.info({ containerId, adopted }, 'sandbox_created');
  failpoint('start.created');
  return containerId;
}
