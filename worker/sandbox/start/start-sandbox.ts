import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { PreparedSandbox } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { attach, openSpool, release } from './attach.ts';
import { ensureContainer } from './ensure-container.ts';
import { publishStart } from './publish-start.ts';
import { prepareWorkspace } from './seed-workspace.ts';
import { hasEnded, wasStarted } from './start-state.ts';

type StartResult =
  | { outcome: 'started'; sandbox: PreparedSandbox }
  /** Its secrets are gone, so it is never created again, whatever has become of it: adopt it. */
  | { outcome: 'already_started' }
  | { outcome: 'already_ended' };

const alreadyEnded: StartResult = { outcome: 'already_ended' };

/**
 * Starts a run's sandbox. A stop that arrives during the start finds nothing to stop. So the run's end
 * is checked before anything is created, and again when the container is running.
 */
export async function startSandbox(deps: SandboxDeps, ref: SandboxRef): Promise<StartResult> {
  const askedAt = deps.now().toISOString();
  const plan = await deps.runs.sandboxPlan(ref.runId);
  if (plan === null || plan.run.endedAt !== null) return alreadyEnded;
  if (wasStarted(plan, ref)) return { outcome: 'already_started' };
  if (hasEnded(plan.run) || plan.run.generation > ref.generation) return alreadyEnded;
  if (plan.session !== null && plan.run.hostId !== deps.hostId) return alreadyEnded;
  failpoint('start.planned');
  const attachment = await attach(deps, ref, plan);
  if (attachment === null) {
    if (hasEnded(await deps.runs.find(ref.runId))) return alreadyEnded;
    throw new Error('another host owns this run');
  }
  const { logger } = attachment;
  logger.debug({ askedAt }, 'sandbox_opened');
  try {
    await prepareWorkspace(deps, attachment);
    const containerId = await ensureContainer(deps, attachment);
    const sandbox = await openSpool(deps, attachment, containerId);
    failpoint('start.opened');
    await deps.sandboxes.start(containerId);
    failpoint('start.running');
    logger.info({ containerId }, 'sandbox_started');
    await publishStart(deps, attachment);
    failpoint('start.published');
    if (!hasEnded(await deps.runs.find(ref.runId))) return { outcome: 'started', sandbox };
    await deps.sandboxes.signal(containerId, 'SIGKILL');
    await release(attachment);
    return alreadyEnded;
  } catch (error) {
    await release(attachment);
    throw error;
  }
}
