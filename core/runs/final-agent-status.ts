import type { EndCause } from './end-cause.ts';
import type { AgentStatus } from './run.ts';

/** Once a run has ended, its agent neither works nor waits, whatever it was cut off from saying. */
export function finalAgentStatus(status: AgentStatus | null, cause: EndCause): AgentStatus | null {
  if (status !== 'working' && status !== 'waiting') return status;
  return cause === 'completed' ? 'idle' : 'error';
}
