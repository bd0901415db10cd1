import type { EndCause } from './end-cause.ts';
import type { AgentStatus } from './run.ts';

/**
 * After the end of a run, its agent is neither working nor waiting, even if it last reported so.
 */
export function finalAgentStatus(status: AgentStatus | null, cause: EndCause): AgentStatus | null {
  if (status !== 'working' && status !== 'waiting') return status;
  return cause === 'completed' ? 'idle' : 'error';
}
