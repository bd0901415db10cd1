// What must be known of an agent's earlier lines to understand the next one. It is kept with the
// place up to which its output has been read, in the same transaction: whoever reads on from there,
// in whatever process, knows exactly this much, and the same lines give the same frames.

import { type Frame, statusFrame } from '../frames/frame.ts';
import { limits } from '../limits.ts';
import type { AgentStatus } from '../runs/run.ts';
import type { RunFacts } from './agent-line.ts';
import { askedFrame, closedFrame, type InteractionNews, type Refusal } from './interaction.ts';
import type { TurnResult } from './turn-result.ts';

export interface AgentMemory {
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
  refusals: Refusal[];
}

export const blankMemory: AgentMemory = {
  turn: null,
  isDone: false,
  isInTurn: false,
  backgroundTasks: 0,
  questions: [],
  refusals: [],
};

/** The agent has nothing to do, now or later. */
export function isResting({ isDone, isInTurn, backgroundTasks }: AgentMemory): boolean {
  return isDone && !isInTurn && backgroundTasks === 0;
}

export interface Followed {
  /** The same object where nothing has changed. */
  memory: AgentMemory;
  /** What follows the line's own frames. */
  frames: Frame[];
  /** Where it is another than the line alone would tell. */
  agentStatus?: AgentStatus;
  news: InteractionNews[];
}

export function follow(memory: AgentMemory, facts: RunFacts): Followed {
  if (facts.asked) return afterQuestion(memory, facts.asked);
  if (facts.closed) return afterClosing(memory, facts.closed);
  if (facts.refused) return quiet(withRefusal(memory, facts.refused));
  if (facts.turn) return afterResult(memory, facts.turn);
  if (facts.turnBegun) return afterBeginning(memory);
  if (facts.backgroundTasks !== undefined) {
    return quiet({ ...memory, backgroundTasks: facts.backgroundTasks });
  }
  if (facts.accepted !== undefined) return quiet({ ...memory, isInTurn: true });
  if (facts.completed !== undefined) return quiet(afterMessage(memory));
  return quiet(memory);
}

const quiet = (memory: AgentMemory): Followed => ({ memory, frames: [], news: [] });

function afterQuestion(memory: AgentMemory, asked: NonNullable<RunFacts['asked']>): Followed {
  const { interactionId } = asked;
  const { questions } = memory;
  if (questions.includes(interactionId)) return quiet(memory);
  if (questions.length >= limits.interactionsMax) {
    return quiet(withRefusal(memory, { requestId: interactionId, of: 'permission' }));
  }
  return {
    memory: { ...memory, questions: [...questions, interactionId] },
    frames: [askedFrame(asked), ...(questions.length === 0 ? [statusFrame('waiting')] : [])],
    agentStatus: 'waiting',
    news: [{ kind: 'asked', interaction: asked }],
  };
}

function afterClosing(memory: AgentMemory, closed: NonNullable<RunFacts['closed']>): Followed {
  const { interactionId, outcome } = closed;
  const refusals = memory.refusals.filter(({ requestId }) => requestId !== interactionId);
  const questions = memory.questions.filter((id) => id !== interactionId);
  if (questions.length === memory.questions.length) {
    return quiet(refusals.length === memory.refusals.length ? memory : { ...memory, refusals });
  }
  const closing = closedFrame(interactionId, outcome);
  const isOver = questions.length === 0;
  return {
    memory: { ...memory, questions },
    frames: isOver ? [closing, statusFrame('working')] : [closing],
    ...(isOver ? { agentStatus: 'working' } : {}),
    news: [{ kind: 'closed', interactionId, outcome }],
  };
}

function withRefusal(memory: AgentMemory, refusal: Refusal): AgentMemory {
  const isNew = memory.refusals.every(({ requestId }) => requestId !== refusal.requestId);
  if (!isNew || memory.refusals.length >= limits.interactionsMax) return memory;
  return { ...memory, refusals: [...memory.refusals, refusal] };
}

/** Nothing that the turn has asked is waited for any more. */
function afterResult(memory: AgentMemory, { isError, cause }: TurnResult): Followed {
  const { questions } = memory;
  return {
    memory: {
      ...memory,
      turn: { isError, cause },
      isDone: true,
      isInTurn: false,
      questions: [],
      refusals: [],
    },
    frames: questions.map((id) => closedFrame(id, 'withdrawn')),
    news: questions.map((interactionId) => ({
      kind: 'closed',
      interactionId,
      outcome: 'withdrawn',
    })),
  };
}

/** A turn that no message has begun: something in the background has ended. */
function afterBeginning(memory: AgentMemory): Followed {
  if (memory.isInTurn) return quiet(memory);
  return {
    memory: { ...memory, isInTurn: true },
    frames: [statusFrame('working')],
    agentStatus: 'working',
    news: [],
  };
}

/** Without a result before it, there will be none. After one, a turn of its own may have begun. */
function afterMessage(memory: AgentMemory): AgentMemory {
  return memory.isDone ? memory : { ...memory, isDone: true, isInTurn: false };
}
