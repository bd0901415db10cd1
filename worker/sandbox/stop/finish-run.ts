import type { TurnResult } from '../../../core/agent/turn-result.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { RunEnd } from '../../../core/runs/end-cause.ts';
import { retryUntilAborted } from '../../../lib/async/retry.ts';
import { settlesWithin } from '../../../lib/async/timeout.ts';
import type { SandboxContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import type { TurnTracker } from '../input/turn-tracker.ts';
import type { OutputPipeline } from '../output/output.ts';
import type { SpoolTail } from '../output/spool-tail.ts';
import type { Ownership } from '../ownership.ts';
import type { ContainerExit } from './exit-watch.ts';
import type { Watchdog } from './watchdog.ts';

/**
 * A plain run has one message. Once the agent is done with it and idle, its input is closed, and an
 * agent that does not exit is terminated. Background tasks may continue while they write output.
 * Rejects if this process releases the sandbox.
 */
export async function closeAfterResult(
  { times }: Pick<SandboxDeps, 'times'>,
  { exit, turns, socket }: SandboxContext,
  on: { tail: SpoolTail; ownership: Ownership; terminateFor: Watchdog['terminateFor'] },
): Promise<void> {
  const ended = Promise.race([exit.exited, on.ownership.released]);
  await Promise.race([turns.finished, ended]);
  const checkEveryMs = Math.min(checkEveryMaxMs, times.afterResultGraceMs);
  const idleForMs = (): number => performance.now() - idleSince({ turns, tail: on.tail, times });
  for (;;) {
    if (idleForMs() >= 0) socket.input.close();
    if (await settlesWithin(checkEveryMs, ended)) return;
    if (idleForMs() < times.afterResultGraceMs) continue;
    // It may have exited while the engine was unavailable.
    if (await retryUntilAborted(exit.isRunning, on.ownership.retry))
      return on.terminateFor('hung_after_result');
  }
}

const checkEveryMaxMs = 250;

/** When the agent became idle, or will count as idle. */
function idleSince({
  turns,
  tail,
  times,
}: Pick<SandboxDeps, 'times'> & { turns: TurnTracker; tail: SpoolTail }): number {
  const since = turns.idleSince();
  if (since !== null) return since;
  const quietSince = turns.isWorking() ? null : tail.quietSince();
  return quietSince === null ? Number.POSITIVE_INFINITY : quietSince + times.stallTimeoutMs;
}

interface EndWatch {
  output: OutputPipeline;
  ownership: Ownership;
  recorded: Watchdog['recorded'];
}

/**
 * Waits for the end of a plain run's sandbox, and records the cause. The first recorded cause
 * stays.
 */
export async function finishRun(
  { runs }: Pick<SandboxDeps, 'runs'>,
  context: SandboxContext,
  watch: EndWatch,
): Promise<RunEnd> {
  const { ref, turns, socket, logger } = context;
  const exit = await awaitExitAndDrain(context, watch);
  const { cause, detail, exitCode } = resolveEnd({ exit, turn: turns.last() });
  const record = () => runs.recordCause({ ...ref, cause, detail });
  const recorded = (await retryUntilAborted(record, watch.ownership.retry)) ?? cause;
  failpoint('end.recorded');
  logger.info({ cause: recorded, exitCode, denied: socket.denials() }, 'sandbox_ended');
  return { cause: recorded, detail: recorded === cause ? detail : null, exitCode };
}

/**
 * Waits for the exit, and reads the output to its last byte. When it resolves, the ledger has every
 * model call, and the cause is recorded if the watchdog terminated the sandbox. Rejects if this
 * process releases the sandbox.
 */
export async function awaitExitAndDrain(
  { exit, socket }: SandboxContext,
  { output, ownership, recorded }: EndWatch,
): Promise<ContainerExit> {
  const containerExit = await exit.exited;
  failpoint('end.exited');
  output.tail.finish();
  await output.tail.done;
  failpoint('end.read');
  ownership.signal.throwIfAborted();
  await Promise.race([socket.meter.finish(), ownership.released]);
  await output.tree.finish();
  await recorded();
  return containerExit;
}

interface EndEvidence {
  exit: ContainerExit;
  /** The last turn that the agent finished. */
  turn: Pick<TurnResult, 'cause'> | null;
}

const killed = 137;

/**
 * Derives the cause of an end from the exit. A cause that was recorded earlier wins. A run is
 * completed only if its agent has reported a result and exited with success.
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
