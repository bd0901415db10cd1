// What must be known of an agent's earlier lines to understand the next one. It is kept with the
// place up to which its output has been read, in the same transaction: whoever reads on from there,
// in whatever process, knows exactly this much, and the same lines give the same frames.

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
  /** How the last turn ended that had a result. */
  turn: Pick<TurnResult, 'isError' | 'cause'> | null;
  /** It is done with its message, with a result or without. */
  isDone: boolean;
  isInTurn: boolean;
  /** What it has left running, each of which begins a turn of its own when it ends. */
  backgroundTasks: number;
  /** Ids of the questions that wait for an answer. */
  questions: string[];
  /** What is to be refused and was not yet, as far as the agent has said. */
  denials: ControlDenial[];
}

export const initialAgentState: AgentState = {
  turn: null,
  isDone: false,
  isInTurn: false,
  backgroundTasks: 0,
  questions: [],
  denials: [],
};

/** The agent has nothing to do, now or later. */
export function isIdle({ isDone, isInTurn, backgroundTasks }: AgentState): boolean {
  return isDone && !isInTurn && backgroundTasks === 0;
}

export interface StateChange {
  /** The same object where nothing has changed. */
  state: AgentState;
  /** What follows the line's own frames. */
  frames: Frame[];
  /** Where it is another than the line alone would tell. */
  agentStatus?: AgentStatus;
  interactionEvents: InteractionEvent[];
}

export function reduce(memory: AgentState, facts: RunFacts): StateChange {
  if (facts.asked) return afterQuestion(memory, facts.asked);
  if (facts.closed) return afterClosing(memory, facts.closed);
  if (facts.denied) return unchanged(withDenial(memory, facts.denied));
  if (facts.turn) return afterResult(memory, facts.turn);
  if (facts.turnStarted) return afterTurnStart(memory);
  if (facts.backgroundTasks !== undefined) {
    return unchanged({ ...memory, backgroundTasks: facts.backgroundTasks });
  }
  if (facts.accepted !== undefined) return unchanged({ ...memory, isInTurn: true });
  if (facts.completed !== undefined) return unchanged(afterMessage(memory));
  return unchanged(memory);
}

const unchanged = (memory: AgentState): StateChange => ({
  state: memory,
  frames: [],
  interactionEvents: [],
});

function afterQuestion(memory: AgentState, asked: NonNullable<RunFacts['asked']>): StateChange {
  const { interactionId } = asked;
  const { questions } = memory;
  if (questions.includes(interactionId)) return unchanged(memory);
  if (questions.length >= limits.interactionsMax) {
    return unchanged(withDenial(memory, { requestId: interactionId, of: 'permission' }));
  }
  return {
    state: { ...memory, questions: [...questions, interactionId] },
    frames: [askedFrame(asked), ...(questions.length === 0 ? [statusFrame('waiting')] : [])],
    agentStatus: 'waiting',
    interactionEvents: [{ kind: 'asked', interaction: asked }],
  };
}

function afterClosing(memory: AgentState, closed: NonNullable<RunFacts['closed']>): StateChange {
  const { interactionId, outcome } = closed;
  const refusals = memory.denials.filter(({ requestId }) => requestId !== interactionId);
  const questions = memory.questions.filter((id) => id !== interactionId);
  if (questions.length === memory.questions.length) {
    return unchanged(
      refusals.length === memory.denials.length ? memory : { ...memory, denials: refusals },
    );
  }
  const closing = closedFrame(interactionId, outcome);
  const isOver = questions.length === 0;
  return {
    state: { ...memory, questions },
    frames: isOver ? [closing, statusFrame('working')] : [closing],
    ...(isOver ? { agentStatus: 'working' } : {}),
    interactionEvents: [{ kind: 'closed', interactionId, outcome }],
  };
}

function withDenial(memory: AgentState, refusal: ControlDenial): AgentState {
  const isNew = memory.denials.every(({ requestId }) => requestId !== refusal.requestId);
  if (!isNew || memory.denials.length >= limits.interactionsMax) return memory;
  return { ...memory, denials: [...memory.denials, refusal] };
}

/** Nothing that the turn has asked is waited for any more. */
function afterResult(memory: AgentState, { isError, cause }: TurnResult): StateChange {
  const { questions } = memory;
  return {
    state: {
      ...memory,
      turn: { isError, cause },
      isDone: true,
      isInTurn: false,
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

/** A turn that no message has begun: something in the background has ended. */
function afterTurnStart(memory: AgentState): StateChange {
  if (memory.isInTurn) return unchanged(memory);
  return {
    state: { ...memory, isInTurn: true },
    frames: [statusFrame('working')],
    agentStatus: 'working',
    interactionEvents: [],
  };
}

/** Without a result before it, there will be none. After one, a turn of its own may have begun. */
function afterMessage(memory: AgentState): AgentState {
  return memory.isDone ? memory : { ...memory, isDone: true, isInTurn: false };
}
