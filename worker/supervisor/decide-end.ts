import type { SandboxEnd } from '../../core/sandbox.ts';
import type { TurnResult } from '../../core/turn-result.ts';

/** What the engine says of a container that runs no more. */
export type Exit =
  | { kind: 'exited'; exitCode: number | null; oomKilled: boolean }
  | { kind: 'missing' };

export interface Ending {
  exit: Exit;
  /** The last turn that the agent has finished. */
  turn: TurnResult | null;
  /** It had said its result and did not leave by itself. */
  endedByForce: boolean;
}

const killed = 137;

/**
 * Why a run ended that nobody ended: the cause recorded earlier, if any, wins over this one. The
 * exit code is the container's word and decides, except where it is ours: an agent that had to be
 * ended after its result is judged by that result.
 */
export function decideEnd({ exit, turn, endedByForce }: Ending): SandboxEnd {
  if (exit.kind === 'missing') {
    return { cause: 'max_reconnects_exceeded', detail: 'the container is gone', exitCode: null };
  }
  const { exitCode, oomKilled } = exit;
  if (turn !== null && endedByForce) return endOfTurn(turn);
  // A child may run out of memory without harm to the run; then the exit code is another.
  if (oomKilled && exitCode === killed) return { cause: 'out_of_memory', detail: null, exitCode };
  if (turn?.cause) return { cause: turn.cause, detail: null, exitCode };
  if (exitCode !== 0) return { cause: 'exited', detail: null, exitCode };
  const detail = turn === null ? 'the agent ended without a result' : null;
  return { cause: 'completed', detail, exitCode };
}

function endOfTurn(turn: TurnResult): SandboxEnd {
  const detail = 'the agent did not end by itself after its result';
  if (turn.cause !== null) return { cause: turn.cause, detail, exitCode: 1 };
  if (turn.isError) return { cause: 'exited', detail, exitCode: 1 };
  return { cause: 'completed', detail, exitCode: 0 };
}
