import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../core/limits.ts';
import { takesPlace } from '../../core/run.ts';
import type { ApiDeps } from '../deps.ts';
import type { WorkflowCalls } from '../workflow-calls.ts';

type RoomDeps = Pick<ApiDeps, 'messages' | 'runs'>;

/**
 * Puts the project's longest-idle session to sleep, and says whether it sleeps. It has until then what
 * it needs to go on, on any host.
 */
export async function makeRoom(
  deps: RoomDeps,
  workflows: Pick<WorkflowCalls, 'sleep'>,
  projectId: string,
): Promise<boolean> {
  const idle = await deps.messages.longestIdle(projectId);
  if (idle === null) return false;
  await workflows.sleep(idle);
  for (let waitedMs = 0; waitedMs < limits.makeRoomMs; waitedMs += lookEveryMs) {
    await sleep(lookEveryMs);
    const now = await deps.runs.find(idle.runId);
    if (now === null || !takesPlace(now)) return true;
  }
  return false;
}

const lookEveryMs = 50;

/** Does what was refused for the cap again, as long as room can be made for it. */
export async function withRoom<T>(
  attempt: () => Promise<T>,
  isCapped: (answer: T) => boolean,
  make: () => Promise<boolean>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const answer = await attempt();
    if (!isCapped(answer) || tries >= triesMax || !(await make())) return answer;
  }
}

/** Others may take the room that was made. */
const triesMax = 4;
