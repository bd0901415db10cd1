import type { EndCause } from '../../core/end-cause.ts';
import type { Care } from './care.ts';
import type { SupervisorDeps } from './deps.ts';
import type { SandboxParts } from './sandbox-parts.ts';
import type { SpoolTail, SpoolTrouble } from './spool-tail.ts';
import type { StopLadder } from './stop-ladder.ts';
import type { Turns } from './turns.ts';
import { insist, pause } from './wait.ts';

/** What this host ends a sandbox for. */
export type Offence = SpoolTrouble | 'workspace' | 'silence';

/** Records why, first, so that the exit which follows is not taken for the cause; then ends it. */
export function createCondemn(
  { runs }: Pick<SupervisorDeps, 'runs'>,
  { ref, logger }: SandboxParts,
  { ladder, care }: { ladder: StopLadder; care: Care },
): (offence: Offence) => void {
  const carryOut = async (offence: Offence): Promise<void> => {
    const { cause, detail } = sentenceFor(offence);
    logger.warn({ cause, detail }, 'sandbox_condemned');
    await insist(() => runs.recordCause({ runId: ref.runId, cause, detail }), care.patience);
    await insist(() => ladder.stop(0), care.patience);
  };
  // Let go of meanwhile, it is no longer this process's to end.
  return (offence) => void carryOut(offence).catch(() => undefined);
}

function sentenceFor(offence: Offence): { cause: EndCause; detail: string } {
  switch (offence) {
    case 'shrunk':
      return { cause: 'output_tampered', detail: 'the output was cut short' };
    case 'replaced':
      return { cause: 'output_tampered', detail: 'the output was replaced' };
    case 'too_long':
      return { cause: 'disk_full', detail: 'the output is over its limit' };
    case 'workspace':
      return { cause: 'disk_full', detail: 'the working directory is over its limit' };
    case 'silence':
      return { cause: 'stalled', detail: 'the agent fell silent' };
  }
}

const lookEveryMaxMs = 5_000;

/**
 * Calls once when an agent whose turn is not over has written nothing for too long. One that waits
 * for an answer may be silent; output that is still on its way into the log is no silence.
 */
export async function watchSilence(
  { tail, turns }: { tail: SpoolTail; turns: Turns },
  { stallTimeoutMs, signal }: { stallTimeoutMs: number; signal: AbortSignal },
  onSilence: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await pause(Math.min(lookEveryMaxMs, stallTimeoutMs / 4), signal);
    if (signal.aborted || turns.last() !== null) return;
    const since = tail.quietSince();
    const isSilent = since !== null && performance.now() - since > stallTimeoutMs;
    if (isSilent && turns.status() !== 'waiting') return onSilence();
  }
}
