import { createChatReader } from '../../../core/frames/chat-frames.ts';
import type { SessionPlan } from '../../../core/sessions/session.ts';
import type { SandboxRef } from '../../../workflows/shared/activities.ts';
import type { SessionContext } from '../context.ts';
import type { SandboxDeps } from '../deps.ts';
import { messageUuid } from '../input/input-queue.ts';
import { createSessionTurnTracker } from './session-turn-tracker.ts';

/**
 * Continues with the message that a previous process sent to the sandbox. Requires the lease: from
 * then on no other process records what became of that message.
 */
export async function createSessionContext(
  { turns }: Pick<SandboxDeps, 'turns'>,
  { runId, generation }: SandboxRef,
  plan: SessionPlan | null,
): Promise<SessionContext | null> {
  if (plan === null) return null;
  const { sessionId, isClaimed, hasUnsavedTurn } = plan;
  const found = await turns.currentTurn(runId, generation);
  const current =
    found === null ? null : { ...found, uuid: messageUuid(found.messageId, generation) };
  return {
    sessionId,
    isClaimed,
    hasUnsavedTurn,
    turns: createSessionTurnTracker(current),
    reader: createChatReader(sessionId, current),
  };
}
