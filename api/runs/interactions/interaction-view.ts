import { questionsOf } from '../../../core/agent/interaction.ts';
import type { StoredInteraction } from '../../../systems/postgres/runs/interaction-store.ts';

/** A question as it was asked. */
export function interactionView({ interactionId, toolName, input, askedAt }: StoredInteraction) {
  return {
    interactionId,
    toolName,
    questions: questionsOf(input),
    askedAt: askedAt.toISOString(),
  };
}
