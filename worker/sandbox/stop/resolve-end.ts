import type { TurnResult } from '../../../core/agent/turn-result.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';

/** What the engine says of a container that runs no more. */
export type ContainerExit =
  | { kind: 'exited'; exitCode: number | null; oomKilled: boolean }
  | { kind: 'missing' };

interface EndEvidence {
  exit: ContainerExit;
  /** The last turn that the agent has finished. */
  turn: Pick<TurnResult, 'cause'> | null;
}

const killed = 137;

/**
 * Why a run ended that nobody ended: the cause recorded earlier, if any, wins over this one. Only
 * an agent that has said its result and left by itself, with success, has completed its run.
 */
export function resolveEnd({ exit, turn }: EndEvidence): RunEnd {
  if (exit.kind === 'missing') {
    return { cause: 'max_reconnects_exceeded', detail: 'the container is gone', exitCode: null };
  }
  const { exitCode, oomKilled } = exit;
  // A child may run out of memory without harm to the run; then the exit code is another.
  if (oomKilled && exitCode === killed) return { cause: 'out_of_memory', detail: null, exitCode };
  if (turn?.cause) return { cause: turn.cause, detail: null, exitCode };
  if (exitCode !== 0) return { cause: 'exited', detail: null, exitCode };
  if (turn === null) return { cause: 'no_result', detail: null, exitCode };
  return { cause: 'completed', detail: null, exitCode };
}
