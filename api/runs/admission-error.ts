import { limits } from '../../core/limits.ts';
import type { AdmissionRejection } from '../../systems/postgres/admission/admission.ts';
import type { MessageRejection } from '../../systems/postgres/sessions/store-message.ts';
import { ApiError } from '../errors.ts';

interface Rejection {
  reason: AdmissionRejection['reason'] | MessageRejection;
  limit?: number | null | undefined;
  current?: number | null | undefined;
}

/** What a caller is told whom one of the gates before a sandbox has turned away. */
export function admissionError({ reason, limit, current }: Rejection): ApiError {
  if (reason === 'UPSTREAM_UNAVAILABLE') return restoreNotReconciled();
  const bound = typeof limit === 'number' && typeof current === 'number' ? { limit, current } : {};
  return new ApiError(reason, messages[reason], bound);
}

/** Whoever repeats a run or a session may mean one that the database has lost: that is found out soon. */
export const restoreNotReconciled = () =>
  new ApiError('UPSTREAM_UNAVAILABLE', messages.UPSTREAM_UNAVAILABLE, {
    headers: { 'retry-after': String(limits.restoreRetrySeconds) },
  });

const messages: Record<Rejection['reason'], string> = {
  RUNNER_OFFLINE: 'The host that this flow is bound to is offline.',
  CONCURRENT_LIMIT: 'The project has as many runs as it may have at once.',
  MONTHLY_QUOTA: "The project's runs of this month are used up.",
  UPSTREAM_UNAVAILABLE:
    'The service was restored from a backup, and is finding out whether it knows this; try again.',
  QUEUE_FULL: 'The session has as many messages waiting as it may have.',
};
