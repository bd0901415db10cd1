import { type AgentState, isIdle } from '../../../core/agent/agent-state.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';

/** What the agent has said of its work so far. */
export interface TurnTracker {
  note(stored: { frames: number; agentState: AgentState }): void;
  /** Resolves when the agent is done with its message, with a result or without. */
  finished: Promise<unknown>;
  /** How the last turn ended that had a result. */
  last(): AgentState['turn'];
  /** It waits for an answer. */
  isWaiting(): boolean;
  isDone(): boolean;
  /** It has begun to speak and is not done, or is in a turn of its own. */
  isWorking(): boolean;
  /** Since when it has had nothing to do, now or later; null while it has. */
  idleSince(): number | null;
  agentState(): AgentState;
}

/** Goes on from what the log tells, where this is not the beginning. */
export function createTurnTracker(earlier: {
  agentState: AgentState;
  hasSpoken: boolean;
}): TurnTracker {
  const finished = createDeferred<true>();
  let { agentState, hasSpoken } = earlier;
  let idleSince: number | null = null;

  function update(next: AgentState): void {
    agentState = next;
    if (agentState.isDone) finished.resolve(true);
    idleSince = isIdle(agentState) ? (idleSince ?? performance.now()) : null;
  }

  update(agentState);
  return {
    note({ frames, agentState }) {
      hasSpoken ||= frames > 0;
      update(agentState);
    },
    finished: finished.promise,
    last: () => agentState.turn,
    isWaiting: () => agentState.questions.length > 0,
    isDone: () => agentState.isDone,
    isWorking: () => hasSpoken && (agentState.isInTurn || !agentState.isDone),
    idleSince: () => idleSince,
    agentState: () => agentState,
  };
}
