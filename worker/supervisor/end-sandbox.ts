import { failpoint } from '../../core/failpoint.ts';
import type { SandboxEnd } from '../../core/sandbox.ts';
import type { Care } from './care.ts';
import { decideEnd } from './decide-end.ts';
import type { SupervisorDeps } from './deps.ts';
import type { SandboxParts } from './sandbox-parts.ts';
import type { StopLadder } from './stop-ladder.ts';
import { insist, within } from './wait.ts';
import type { WatchedOutput } from './watch-output.ts';

/** Whether an agent had to be made to leave after its result. */
export interface Parting {
  wasForced(): boolean;
}

/** A plain run has one turn: its result closes the input, and an agent that stays is ended. */
export function partAfterResult(
  { times }: Pick<SupervisorDeps, 'times'>,
  { exit, turns, served }: SandboxParts,
  { ladder, care }: { ladder: StopLadder; care: Care },
): Parting {
  let forced = false;
  const part = async (): Promise<void> => {
    await Promise.race([turns.finished, care.over]);
    served.input.close();
    const gone = Promise.race([exit.exited, care.over]);
    if (await within(times.afterResultGraceMs, gone)) return;
    forced = true;
    await insist(() => ladder.stop(0), care.patience);
  };
  part().catch(() => undefined); // over before it came to that
  return { wasForced: () => forced };
}

/** Waits for the exit, reads the output to its last byte, and only then says how the run ended. */
export async function seeToTheEnd(
  { runs }: Pick<SupervisorDeps, 'runs'>,
  { ref, exit, turns, served, logger }: SandboxParts,
  { output, parting, care }: { output: WatchedOutput; parting: Parting; care: Care },
): Promise<SandboxEnd> {
  const how = await exit.exited;
  failpoint('end.exited');
  output.tail.finish();
  await output.tail.done;
  failpoint('end.read');
  care.signal.throwIfAborted();
  await output.tree.finish();
  const ending = { exit: how, turn: turns.last(), endedByForce: parting.wasForced() };
  const { cause, detail, exitCode } = decideEnd(ending);
  const record = () => runs.recordCause({ runId: ref.runId, cause, detail });
  const stands = (await insist(record, care.patience)) ?? cause;
  failpoint('end.recorded');
  logger.info({ cause: stands, exitCode, refused: served.refusals() }, 'sandbox_ended');
  return { cause: stands, detail: stands === cause ? detail : null, exitCode };
}
