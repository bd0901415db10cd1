import type { EndCause } from '../../core/end-cause.ts';
import type { SpoolTail, SpoolTrouble } from './spool-tail.ts';
import type { Turns } from './turns.ts';
import { pause } from './wait.ts';

/** Why this host ends a sandbox of its own accord. */
export interface Condemnation {
  cause: EndCause;
  detail: string;
}

export type Offence = SpoolTrouble | 'workspace' | 'silence';

export function condemnationOf(offence: Offence): Condemnation {
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
