import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../core/limits.ts';
import { occupiesSlot } from '../../core/runs/run.ts';
import type { ApiDeps } from '../deps.ts';
import type { WorkflowClient } from './workflow-client.ts';

type SlotDeps = Pick<ApiDeps, 'messages' | 'runs'>;

interface SlotRequest {
  projectId: string;
  /** Nobody waits for the room any more. */
  signal: AbortSignal;
}

/**
 * Puts the project's longest-idle session to sleep, and says whether it sleeps. It has until then what
 * it needs to go on, on any host.
 */
export async function freeProjectSlot(
  deps: SlotDeps,
  workflows: Pick<WorkflowClient, 'sleep'>,
  { projectId, signal }: SlotRequest,
): Promise<boolean> {
  if (signal.aborted) return false;
  const idle = await deps.messages.findLongestIdle(projectId);
  if (idle === null) return false;
  await workflows.sleep(idle);
  const endsAt = performance.now() + limits.evictionTimeoutMs;
  while (performance.now() < endsAt) {
    await sleep(limits.evictionPollMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return false;
    const now = await deps.runs.find(idle.runId);
    if (now === null || !occupiesSlot(now)) return true;
  }
  return false;
}

/**
 * Does what was refused for the cap again, as long as room can be made for it. For one who has left
 * nothing is done again: the refusal stands.
 */
export async function retryAfterEviction<T>(
  attempt: () => Promise<T>,
  isCapped: (answer: T) => boolean,
  make: () => Promise<boolean>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const answer = await attempt();
    if (!isCapped(answer) || tries >= limits.evictionTriesMax || !(await make())) return answer;
  }
}
