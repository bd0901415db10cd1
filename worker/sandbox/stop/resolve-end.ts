import type { TurnResult } from '../../../core/agent/turn-result.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';

/** What the engine reports about a container that has exited. */
export type ContainerExit =
  | { kind: 'exited'; exitCode: number | null; oomKilled: boolean }
  | { kind: 'missing' };

interface EndEvidence {
  exit: ContainerExit;
  /** The last turn that the agent finished. */
  turn: Pick<TurnResult, 'cause'> | null;
}

const killed = 137;

/**
 * Derives the cause of an end from the exit. A cause that was recorded earlier wins. A run is completed only
 * if its agent has reported a result and exited with success.
 */
export function resolveEnd({ exit, turn }: EndEvidence): RunEnd {
  if (exit.kind === 'missing') {
    return { cause: 'max_reconnects_exceeded', detail: 'the container is gone', exitCode: null };
  }
  const { exitCode, oomKilled } = exit;
  // If only a child ran out of memory, the exit code differs.
  if (oomKilled && exitCode === killed) return { cause: 'out_of_memory', detail: null, exitCode };
  if (turn?.cause) return { cause: turn.cause, detail: null, exitCode };
  if (exitCode !== 0) return { cause: 'exited', detail: null, exitCode };
  if (turn === null) return { cause: 'no_result', detail: null, exitCode };
  return { cause: 'completed', detail: null, exitCode };
}
