import { limits } from '../../core/limits.ts';
import { occupiesSlot } from '../../core/runs/run.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { ApiDeps } from '../deps.ts';
import type { WorkflowClient } from './workflow-client.ts';

type SlotDeps = Pick<ApiDeps, 'admission' | 'runs'>;

interface SlotRequest {
  projectId: string;
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
}

/**
 * Evicts the project's longest-idle session: requests its sleep and waits until it releases its slot.
 * False if no session is idle, or if the eviction takes too long.
 */
export async function freeProjectSlot(
  deps: SlotDeps,
  workflows: Pick<WorkflowClient, 'sleep'>,
  { projectId, signal }: SlotRequest,
): Promise<boolean> {
  if (signal.aborted) return false;
  const idle = await deps.admission.findEvictableInProject(projectId);
  if (idle === null) return false;
  await workflows.sleep(idle);
  const endsAt = performance.now() + limits.evictionTimeoutMs;
  while (performance.now() < endsAt) {
    await sleep(limits.evictionPollMs, signal);
    if (signal.aborted) return false;
    const latest = await deps.runs.find(idle.runId);
    if (latest === null || !occupiesSlot(latest)) return true;
  }
  return false;
}

/**
 * Retries an attempt that the concurrent run limit rejected, as long as a slot can be freed. `evict`
 * returns false once the client has disconnected, so nothing is retried for it.
 */
export async function retryAfterEviction<T>(
  attempt: () => Promise<T>,
  isCapped: (answer: T) => boolean,
  evict: () => Promise<boolean>,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    const answer = await attempt();
    if (!isCapped(answer) || attempts >= limits.evictionTriesMax || !(await evict())) return answer;
  }
}
