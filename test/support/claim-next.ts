import type { AttemptClaim, ClaimedAttempt } from '../../systems/postgres/runs/claim-attempt.ts';
import type { WebhookStore } from '../../systems/postgres/runs/webhook-store.ts';

/** Claims a webhook's next attempt, as the first execution of an activity does. */
export const claimNext = (
  webhooks: WebhookStore,
  runId: string,
  claim: Partial<AttemptClaim> = {},
): Promise<ClaimedAttempt> =>
  webhooks.claimAttempt({
    ...{ id: runId, delivery: 0, made: 0, claimedBy: 'workflow-1', execution: 1, unanswered: null },
    ...claim,
  });
