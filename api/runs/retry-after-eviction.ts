import type { FastifyReply } from 'fastify';
import { limits } from '../../core/limits.ts';
import { occupiesSlot } from '../../core/runs/run.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { ApiDeps } from '../deps.ts';
import { withClientSignal } from '../http/client-signal.ts';
import type { WorkflowClient } from './workflow-client.ts';

type SlotDeps = Pick<ApiDeps, 'admission' | 'runs'>;

interface Eviction {
  projectId: string;
  workflows: Pick<WorkflowClient, 'sleep'>;
  reply: FastifyReply;
  closing: AbortSignal;
}

/**
 * Retries an attempt that the concurrent run limit rejected, as long as an idle session of the
 * project can be evicted. Nothing is retried for a client that has disconnected.
 */
export async function retryAfterEviction<T extends { outcome: string; reason?: string }>(
  deps: SlotDeps,
  { projectId, workflows, reply, closing }: Eviction,
  attempt: () => Promise<T>,
): Promise<T> {
  const evict = (signal: AbortSignal) => freeProjectSlot(deps, workflows, { projectId, signal });
  for (let attempts = 1; ; attempts += 1) {
    const answer = await attempt();
    const isAtLimit = answer.outcome === 'rejected' && answer.reason === 'CONCURRENT_LIMIT';
    if (!isAtLimit || attempts >= limits.eviction.triesMax) return answer;
    if (!(await withClientSignal(reply, closing, evict))) return answer;
  }
}

interface SlotRequest {
  projectId: string;
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
}

/**
 * Evicts the project's longest-idle session: requests its sleep and waits until it releases its
 * slot. False if no session is idle, or if the eviction takes too long.
 */
async function freeProjectSlot(
  deps: SlotDeps,
  workflows: Pick<WorkflowClient, 'sleep'>,
  { projectId, signal }: SlotRequest,
): Promise<boolean> {
  if (signal.aborted) return false;
  const idle = await deps.admission.findEvictableInProject(projectId);
  if (idle === null) return false;
  await workflows.sleep(idle);
  const endsAt = performance.now() + limits.eviction.timeoutMs;
  while (performance.now() < endsAt) {
    await sleep(limits.eviction.pollMs, signal);
    if (signal.aborted) return false;
    const latest = await deps.runs.find(idle.runId);
    if (latest === null || !occupiesSlot(latest)) return true;
  }
  return false;
}
