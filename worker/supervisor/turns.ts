import { type RunFacts, readAgentLine } from '../../core/agent-line.ts';
import type { AgentStatus } from '../../core/run.ts';
import type { TurnResult } from '../../core/turn-result.ts';
import type { FrameStore } from '../../systems/postgres/frame-store.ts';
import { createLatch } from './latch.ts';

/** What the agent has said of its work so far. */
export interface Turns {
  note(stored: { frames: number; facts: RunFacts }): void;
  /** Resolves with the first result, or when the agent is done with its message without one. */
  finished: Promise<unknown>;
  last(): TurnResult | null;
  status(): AgentStatus | null;
  /** It has begun to speak, and is not done. */
  isWorking(): boolean;
}

/** Goes on from what the log tells, where this is not the beginning. */
export function createTurns(earlier: { turn: TurnResult | null; hasSpoken: boolean }): Turns {
  const finished = createLatch<true>();
  let { turn: last, hasSpoken } = earlier;
  let status: AgentStatus | null = null;
  if (last !== null) finished.set(true);
  return {
    note({ frames, facts }) {
      hasSpoken ||= frames > 0;
      status = facts.agentStatus ?? status;
      last = facts.turn ?? last;
      if (facts.turn ?? facts.completed) finished.set(true);
    },
    finished: finished.happened,
    last: () => last,
    status: () => status,
    isWorking: () => hasSpoken && finished.value() === undefined,
  };
}

const lookBackFrames = 200;

/** The result that a run's log ends with; null where its turn is not over. */
export async function findLastTurn(
  frames: Pick<FrameStore, 'read'>,
  runId: string,
): Promise<TurnResult | null> {
  const latest = await frames.read(runId, {
    order: 'desc',
    channel: 'chat',
    limit: lookBackFrames,
    maxBytes: 8 * 1024 ** 2,
  });
  const result = latest.find(({ event }) => event === 'result');
  return result === undefined ? null : (readAgentLine(result.data).facts.turn ?? null);
}
