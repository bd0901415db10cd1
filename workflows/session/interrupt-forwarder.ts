import type { Interruption } from '../shared/signals.ts';
import type { HeldPlace, SessionContext } from './session-context.ts';

/** Passes on to a sandbox's host which turns are to end, each once. */
export interface Interrupter {
  isDue(): boolean;
  passOn(): void;
}

/**
 * A turn that was cut off with its sandbox goes on in the next one, and is to end there: but a sandbox
 * that is still coming up has none, so it is told when it is up.
 */
export function interrupterOf(
  { inbox, state }: SessionContext,
  { host, ref }: HeldPlace,
): Interrupter {
  const passed = new Set<string>();
  const due = (): string[] => {
    if (state.place?.generation !== ref.generation) return [];
    return [...inbox.interrupted].filter((messageId) => !passed.has(messageId));
  };
  const pass = (turn: Interruption): void =>
    void host.interruptTurn({ ...ref, ...turn }).catch(() => undefined);
  return {
    isDue: () => inbox.mayBeInterrupted || due().length > 0,
    passOn() {
      if (inbox.mayBeInterrupted) pass({});
      inbox.mayBeInterrupted = false;
      for (const messageId of due()) {
        passed.add(messageId);
        pass({ messageId });
      }
    },
  };
}
