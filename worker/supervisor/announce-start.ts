import { failpoint } from '../../core/failpoint.ts';
import type { AgentStatus } from '../../core/run.ts';
import type { SandboxRef } from '../../workflows/activities.ts';
import type { SupervisorDeps } from './deps.ts';
import type { HeldLease } from './lease.ts';

/** The first start of a run is told to whoever watches it. */
export async function announceStart(
  { runs, frames, frameStream }: SupervisorDeps,
  { runId, generation }: SandboxRef,
  { token }: HeldLease,
): Promise<void> {
  const status: AgentStatus = 'idle';
  if (!(await runs.markStarted(runId, generation, status))) return;
  failpoint('start.marked');
  const data = JSON.stringify({ status });
  const frame = { event: 'agent_status', data, channel: 'other' } as const;
  const stored = await frames.appendOwn({ runId, token, frames: [frame] });
  if (stored.outcome === 'fenced') return;
  const published = { ...frame, seq: stored.lastSeq, at: stored.at };
  await frameStream.publish(runId, { frames: [published], deltas: [] });
  await frameStream.wake(runId);
}
