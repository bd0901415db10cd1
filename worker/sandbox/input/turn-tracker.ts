import { type AgentState, isIdle } from '../../../core/agent/agent-state.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';

/** The state of the agent's turns, as its output reports it. */
export interface TurnTracker {
  note(stored: { frames: number; agentState: AgentState }): void;
  /** Resolves when the agent is done with its message, with or without a result. */
  finished: Promise<unknown>;
  /** The last turn that ended with a result. */
  last(): AgentState['turn'];
  /** True while the agent waits for an answer. */
  isWaiting(): boolean;
  isDone(): boolean;
  /** True if the agent has written output and is not done, or is in an unprompted turn. */
  isWorking(): boolean;
  /** Since when the agent has been idle, without background tasks. Null while it is not. */
  idleSince(): number | null;
  agentState(): AgentState;
}

/** Continues from the state that is stored with the log. */
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
    note({ frames, agentState: next }) {
      hasSpoken ||= frames > 0;
      update(next);
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
