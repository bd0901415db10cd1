import { type ChatReader, createChatReader } from '../../../core/frames/chat-frames.ts';
import type { SessionPlan } from '../../../core/sessions/session.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SupervisorDeps } from '../deps.ts';
import { messageUuid } from '../input/agent-input.ts';
import { createSessionTurnTracker, type SessionTurnTracker } from './session-turn-tracker.ts';

/** What a sandbox has beside the others where it is a session's. */
export interface SessionContext {
  sessionId: string;
  turns: SessionTurnTracker;
  reader: ChatReader;
}

/**
 * Goes on with the message that an earlier life of this process has given to the sandbox. Call with
 * the lease in hand: from then on nobody else says what became of it.
 */
export async function createSessionContext(
  { turns }: Pick<SupervisorDeps, 'turns'>,
  { runId, generation }: SandboxRef,
  plan: SessionPlan | null,
): Promise<SessionContext | null> {
  if (plan === null) return null;
  const { sessionId } = plan;
  const found = await turns.currentTurn(runId, generation);
  const present =
    found === null ? null : { ...found, uuid: messageUuid(found.messageId, generation) };
  return {
    sessionId,
    turns: createSessionTurnTracker(present),
    reader: createChatReader(sessionId, present),
  };
}
