import type { Logger } from 'pino';
import { interruptLine } from '../input/agent-input.ts';
import type { AgentInputQueue } from '../input/input-queue.ts';
import type { Ownership } from '../ownership.ts';
import type { SessionTurnTracker } from './session-turn-tracker.ts';

/**
 * Ends the turn of this message, or of whichever goes on where none is named, as soon as its agent has
 * waitUntilStarted it: before that an agent may pass it over. Nothing where that turn has ended.
 */
export type InterruptTurn = (messageId: string | null) => Promise<void>;

interface InterruptDeps {
  context: { served: { input: Pick<AgentInputQueue, 'push'> }; logger: Logger };
  chat: Pick<SessionTurnTracker, 'present' | 'waitUntilStarted'>;
  ownership: Ownership;
  newId(): string;
}

export function createInterruptTurn({
  context,
  chat,
  ownership,
  newId,
}: InterruptDeps): InterruptTurn {
  // Let go of, the turn goes on, and whoever takes it up is asked again.
  const over = ownership.released.catch((error: unknown) => {
    if (ownership.isReleased()) throw error;
    return false;
  });
  over.catch(() => undefined); // there may be nobody who asks
  return async (named) => {
    const messageId = named ?? chat.present()?.messageId;
    if (messageId === undefined) return;
    if (!(await Promise.race([chat.waitUntilStarted(messageId), over]))) return;
    context.logger.info({ messageId }, 'turn_interrupted');
    context.served.input.push(interruptLine(newId()));
  };
}
