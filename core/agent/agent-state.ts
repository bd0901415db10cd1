// The state that earlier lines of an agent leave for interpreting the next one. It is stored in the
// same transaction as the offset up to which the output was read. A process that continues from
// that offset has exactly this state, so the same lines give the same frames.

import { type Frame, statusFrame } from '../frames/frame.ts';
import { limits } from '../limits.ts';
import type { AgentStatus } from '../runs/run.ts';
import type { RunFacts } from './agent-line.ts';
import {
  askedFrame,
  type ControlDenial,
  closedFrame,
  type InteractionEvent,
} from './interaction.ts';
import type { TurnResult } from './turn-result.ts';

export interface AgentState {
  /** The result of the last turn that had one. */
  turn: Pick<TurnResult, 'isError' | 'cause'> | null;
  /** The message was completed, with or without a result. */
  isDone: boolean;
  isInTurn: boolean;
  /** The agent has accepted a message whose turn has not ended. */
  hasOpenMessage: boolean;
  /** Running background tasks; each starts a turn when it ends. */
  backgroundTasks: number;
  /** The last background task has ended, and the turn that it starts has not begun. */
  isTurnDue: boolean;
  /** IDs of the questions without an answer. */
  questions: string[];
  /** Denials that the agent has not acknowledged. */
  denials: ControlDenial[];
}

export const initialAgentState: AgentState = {
  turn: null,
  isDone: false,
  isInTurn: false,
  hasOpenMessage: false,
  backgroundTasks: 0,
  isTurnDue: false,
  questions: [],
  denials: [],
};

/** Nothing in progress, and nothing that will start on its own. */
export const isIdle = (state: AgentState): boolean => state.isDone && !isBusy(state);

/** In a turn, or with a background task that starts one at its end. */
export const isBusy = ({ isInTurn, backgroundTasks }: AgentState): boolean =>
  isInTurn || backgroundTasks > 0;

interface StateChange {
  /** The same object if nothing changed. */
  state: AgentState;
  /** Frames after those of the line itself. */
  frames: Frame[];
  /** Overrides the status that the line alone implies. */
  agentStatus?: AgentStatus;
  interactionEvents: InteractionEvent[];
}

export function reduce(state: AgentState, facts: RunFacts): StateChange {
  if (facts.asked) return afterQuestion(state, facts.asked);
  if (facts.closed) return afterClosing(state, facts.closed);
  if (facts.denied) return unchanged(withDenial(state, facts.denied));
  if (facts.turn) return afterResult(state, facts.turn);
  if (facts.turnStarted) return afterTurnStart(state);
  if (facts.backgroundTasks !== undefined) {
    return unchanged(afterTaskChange(state, facts.backgroundTasks));
  }
  if (facts.accepted !== undefined) {
    return unchanged({ ...state, isInTurn: true, hasOpenMessage: true, isTurnDue: false });
  }
  if (facts.completed !== undefined) return unchanged(afterMessage(state));
  return unchanged(state);
}

const unchanged = (state: AgentState): StateChange => ({
  state,
  frames: [],
  interactionEvents: [],
});

function afterQuestion(state: AgentState, asked: NonNullable<RunFacts['asked']>): StateChange {
  const { interactionId } = asked;
  const { questions } = state;
  if (questions.includes(interactionId)) return unchanged(state);
  if (questions.length >= limits.interaction.openMax) {
    return unchanged(withDenial(state, { requestId: interactionId, of: 'permission' }));
  }
  return {
    state: { ...state, questions: [...questions, interactionId] },
    frames: [askedFrame(asked), ...(questions.length === 0 ? [statusFrame('waiting')] : [])],
    agentStatus: 'waiting',
    interactionEvents: [{ kind: 'asked', interaction: asked }],
  };
}

function afterClosing(state: AgentState, closed: NonNullable<RunFacts['closed']>): StateChange {
  const { interactionId, outcome } = closed;
  const remaining = state.denials.filter(({ requestId }) => requestId !== interactionId);
  const questions = state.questions.filter((id) => id !== interactionId);
  if (questions.length === state.questions.length) {
    return unchanged(
      remaining.length === state.denials.length ? state : { ...state, denials: remaining },
    );
  }
  const closing = closedFrame(interactionId, outcome);
  const isLastQuestion = questions.length === 0;
  return {
    state: { ...state, questions },
    frames: isLastQuestion ? [closing, statusFrame('working')] : [closing],
    ...(isLastQuestion ? { agentStatus: 'working' } : {}),
    interactionEvents: [{ kind: 'closed', interactionId, outcome }],
  };
}

function withDenial(state: AgentState, denial: ControlDenial): AgentState {
  const isNew = state.denials.every(({ requestId }) => requestId !== denial.requestId);
  if (!isNew || state.denials.length >= limits.interaction.openMax) return state;
  return { ...state, denials: [...state.denials, denial] };
}

/** The end of a turn withdraws its open questions. */
function afterResult(state: AgentState, { isError, cause, isUnprompted }: TurnResult): StateChange {
  const { questions } = state;
  return {
    state: {
      ...state,
      turn: { isError, cause },
      isDone: true,
      isInTurn: false,
      hasOpenMessage: state.hasOpenMessage && isUnprompted,
      isTurnDue: false,
      questions: [],
      denials: [],
    },
    frames: questions.map((id) => closedFrame(id, 'withdrawn')),
    interactionEvents: questions.map((interactionId) => ({
      kind: 'closed',
      interactionId,
      outcome: 'withdrawn',
    })),
  };
}

/** A task that ends during a turn is reported in that turn. */
function afterTaskChange(state: AgentState, backgroundTasks: number): AgentState {
  const hasEnded = state.backgroundTasks > 0 && backgroundTasks === 0;
  return { ...state, backgroundTasks, isTurnDue: hasEnded && !state.isInTurn };
}

/** A turn without a message: a background task has ended. */
function afterTurnStart(state: AgentState): StateChange {
  if (state.isInTurn) return unchanged(state);
  return {
    state: { ...state, isInTurn: true, isTurnDue: false },
    frames: [statusFrame('working')],
    agentStatus: 'working',
    interactionEvents: [],
  };
}

/**
 * A completed message without a result ends its turn. If the result came first, an unprompted turn
 * may be in progress, so nothing changes.
 */
function afterMessage(state: AgentState): AgentState {
  if (state.isDone && !state.hasOpenMessage) return state;
  return { ...state, isDone: true, isInTurn: false, hasOpenMessage: false };
}
