import { failpoint } from '../../../core/failpoint.ts';
import type { AgentStatus } from '../../../core/runs/run.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SandboxDeps } from '../deps.ts';
import type { RenewedLease } from '../output/lease.ts';
import type { Attachment } from './attach.ts';

/** Publishes each sandbox of a session once, and the sandbox of a plain run as the run's start. */
export async function publishStart(
  deps: SandboxDeps,
  { ref, plan, lease, logger }: Attachment,
): Promise<void> {
  if (plan.session === null) return publishRunStart(deps, ref, lease);
  const frames = await deps.turns.markStarted({ ...ref, token: lease.token });
  if (frames === null) return;
  logger.info({ generation: ref.generation }, 'session_awake');
  await deps.frameStream.publish(ref.runId, { frames, deltas: [] });
  await deps.frameStream.notify(ref.runId);
}

/**
 * Publishes the first start of a run. The process that marks it publishes it. If that process died
 * in between, the next one finds the log empty and publishes it.
 */
async function publishRunStart(
  { runs, frames, frameStream }: SandboxDeps,
  { runId, generation }: SandboxRef,
  { token, position }: RenewedLease,
): Promise<void> {
  const status: AgentStatus = 'idle';
  const isFirst = await runs.markStarted(runId, generation, status);
  if (!isFirst && position.lastSeq > 0) return;
  failpoint('start.marked');
  const data = JSON.stringify({ status });
  const frame = { event: 'agent_status', data, channel: 'other' } as const;
  const stored = await frames.appendOwn({ runId, token, frames: [frame] });
  if (stored.outcome === 'fenced') return;
  failpoint('start.logged');
  const published = { ...frame, seq: stored.lastSeq, at: stored.at };
  await frameStream.publish(runId, { frames: [published], deltas: [] });
  await frameStream.notify(runId);
}
