import type { InterruptPayload } from '../shared/signals.ts';
import type { ActiveSandbox, SessionContext } from './session-context.ts';

/** Passes on to a sandbox's host which turns are to end, each once. */
export interface InterruptForwarder {
  isDue(): boolean;
  forward(): void;
}

/**
 * A turn that was cut off with its sandbox goes on in the next one, and is to end there: but a sandbox
 * that is still coming up has none, so it is told when it is up.
 */
export function createInterruptForwarder(
  { inbox, state }: SessionContext,
  { host, ref }: ActiveSandbox,
): InterruptForwarder {
  const passed = new Set<string>();
  const due = (): string[] => {
    if (state.sandbox?.generation !== ref.generation) return [];
    return [...inbox.interruptedMessageIds].filter((messageId) => !passed.has(messageId));
  };
  const pass = (turn: InterruptPayload): void =>
    void host.interruptTurn({ ...ref, ...turn }).catch(() => undefined);
  return {
    isDue: () => inbox.interruptCurrentTurn || due().length > 0,
    forward() {
      if (inbox.interruptCurrentTurn) pass({});
      inbox.interruptCurrentTurn = false;
      for (const messageId of due()) {
        passed.add(messageId);
        pass({ messageId });
      }
    },
  };
}
