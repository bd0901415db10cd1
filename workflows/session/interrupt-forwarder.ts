import type { InterruptPayload } from '../shared/signals.ts';
import type { ActiveSandbox, SessionContext } from './session-context.ts';

/** Forwards each interrupt to the sandbox's host once. */
interface InterruptForwarder {
  hasPending(): boolean;
  forward(): void;
}

/**
 * A turn that was lost with its sandbox continues in the next one, and its interrupt applies there. A
 * sandbox that is still starting has no turn, so the interrupt is forwarded after the start.
 */
export function createInterruptForwarder(
  { inbox, state }: SessionContext,
  { host, ref }: ActiveSandbox,
): InterruptForwarder {
  const forwarded = new Set<string>();
  const pending = (): string[] => {
    if (state.sandbox?.generation !== ref.generation) return [];
    return [...inbox.interruptedMessageIds].filter((messageId) => !forwarded.has(messageId));
  };
  const interrupt = (turn: InterruptPayload): void =>
    void host.interruptTurn({ ...ref, ...turn }).catch(() => undefined);
  return {
    hasPending: () => inbox.interruptCurrentTurn || pending().length > 0,
    forward() {
      if (inbox.interruptCurrentTurn) interrupt({});
      inbox.interruptCurrentTurn = false;
      for (const messageId of pending()) {
        forwarded.add(messageId);
        interrupt({ messageId });
      }
    },
  };
}
