import type { Logger } from 'pino';
import { failpoint } from '../../../core/failpoint.ts';
import type { AgentStatus } from '../../../core/runs/run.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SupervisorDeps } from '../deps.ts';
import type { HeldLease } from '../output/lease.ts';

/** Each sandbox of a session is told of once, the sandbox of a plain run as its start. */
export async function publishStart(
  deps: SupervisorDeps,
  ref: SandboxRef,
  { lease, logger, isSession }: { lease: HeldLease; logger: Logger; isSession: boolean },
): Promise<void> {
  if (!isSession) return publishRunStart(deps, ref, lease);
  const frames = await deps.turns.markStarted({ ...ref, token: lease.token });
  if (frames === null) return;
  logger.info({ generation: ref.generation }, 'session_awake');
  await deps.frameStream.publish(ref.runId, { frames, deltas: [] });
  await deps.frameStream.notify(ref.runId);
}

/**
 * The first start of a run is told to whoever watches it: by whoever marks it, or where that one died
 * before it was told, by the next, who finds the log empty.
 */
async function publishRunStart(
  { runs, frames, frameStream }: SupervisorDeps,
  { runId, generation }: SandboxRef,
  { token, position }: HeldLease,
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
