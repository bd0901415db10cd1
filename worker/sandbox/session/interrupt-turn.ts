import type { Logger } from 'pino';
import type { AgentInputQueue } from '../input/input-queue.ts';
import type { Ownership } from '../ownership.ts';
import type { SessionTurnTracker } from './session-turn-tracker.ts';

/**
 * Interrupts the turn of this message, or the current turn if no message is named. Waits until the
 * agent has started the turn, because before that it may ignore the interrupt. No effect after the
 * turn's end.
 */
export type InterruptTurn = (messageId: string | null) => Promise<void>;

interface InterruptDeps {
  context: { socket: { input: Pick<AgentInputQueue, 'interrupt'> }; logger: Logger };
  turns: Pick<SessionTurnTracker, 'current' | 'waitUntilStarted'>;
  ownership: Ownership;
  newId(): string;
}

export function createInterruptTurn({
  context,
  turns,
  ownership,
  newId,
}: InterruptDeps): InterruptTurn {
  // After a release the turn continues, and the retry asks the process that adopts it.
  const ended = ownership.released.catch((error: unknown) => {
    if (ownership.isReleased()) throw error;
    return false;
  });
  ended.catch(() => undefined); // there may be no interrupt
  return async (named) => {
    const messageId = named ?? turns.current()?.messageId;
    if (messageId === undefined) return;
    if (!(await Promise.race([turns.waitUntilStarted(messageId), ended]))) return;
    context.logger.info({ messageId }, 'turn_interrupt_sent');
    context.socket.input.interrupt(newId());
  };
}
