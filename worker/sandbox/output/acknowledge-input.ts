import type { RunFacts } from '../../../core/agent/agent-line.ts';
import type { AgentInputQueue } from '../input/input-queue.ts';

/**
 * Drops the messages that the agent has started and the answers that it has accepted. Only after
 * the output is stored: a process that adopts the sandbox reads from there which message was
 * accepted.
 */
export function acknowledgeInput(
  input: Pick<AgentInputQueue, 'acknowledge'>,
  { accepted, closed }: Pick<RunFacts, 'accepted' | 'closed'>,
): void {
  if (accepted !== undefined) input.acknowledge(accepted);
  if (closed?.outcome === 'answered') input.acknowledge(closed.interactionId);
}
