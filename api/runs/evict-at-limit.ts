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
 * Called with the answer to each attempt of one request. True if the concurrent run limit rejected
 * the attempt and an idle session of the project was evicted, so that the caller tries again.
 * Nothing is evicted for a client that has disconnected.
 */
type EvictAtLimit = (answer: { outcome: string; reason?: string }) => Promise<boolean>;

export function createEvictAtLimit(
  deps: SlotDeps,
  { projectId, workflows, reply, closing }: Eviction,
): EvictAtLimit {
  const evict = (signal: AbortSignal) => freeProjectSlot(deps, workflows, { projectId, signal });
  let attempts = 0;
  return async ({ outcome, reason }) => {
    attempts += 1;
    const isAtLimit = outcome === 'rejected' && reason === 'CONCURRENT_LIMIT';
    if (!isAtLimit || attempts >= limits.eviction.triesMax) return false;
    return withClientSignal(reply, closing, evict);
  };
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
