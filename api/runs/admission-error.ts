import { limits } from '../../core/limits.ts';
import type { BudgetOwner } from '../../core/metering/monthly-budget.ts';
import { type ChildRejection, isChildRejection } from '../../core/runs/child-runs.ts';
import type { AdmissionRejection } from '../../systems/postgres/admission/admission.ts';
import type { SessionRejection } from '../../systems/postgres/sessions/open-session.ts';
import type { MessageRejection } from '../../systems/postgres/sessions/store-message.ts';
import { ApiError, invalid, notFound, unauthorized } from '../errors.ts';

interface Rejection {
  reason: AdmissionRejection['reason'] | MessageRejection | SessionRejection['reason'];
  limit?: number | null | undefined;
  current?: number | null | undefined;
  budget?: BudgetOwner | null | undefined;
}

/** The client's error for a rejected run, session or message. */
export function admissionError({ reason, limit, current, budget }: Rejection): ApiError {
  if (reason === 'UPSTREAM_UNAVAILABLE') return restoreNotReconciled();
  if (reason === 'POSTGRES_DISK_SHORT') return postgresDiskShort();
  if (reason === 'STORAGE_QUOTA')
    return storageQuotaUsedUp({ limit: limit ?? 0, current: current ?? 0 });
  if (reason === 'FLOW_ARCHIVED') return notFound('Flow');
  if (reason === 'INPUT_FILES_PURGED') return invalid(messages.INPUT_FILES_PURGED);
  if (isChildRejection(reason)) return childRejected(reason, { limit, current });
  if (reason === 'BUDGET_REACHED') return budgetReached({ limit, current, budget });
  const bound = typeof limit === 'number' && typeof current === 'number' ? { limit, current } : {};
  return new ApiError(reason, messages[reason], bound);
}

function childRejected(
  reason: ChildRejection,
  { limit, current }: Pick<Rejection, 'limit' | 'current'>,
): ApiError {
  if (reason === 'PARENT_ENDED') return unauthorized();
  const reached = { limit: limit ?? 0, current: current ?? 0 };
  return new ApiError('RUN_TREE_LIMIT', messages[reason], reached);
}

/**
 * A repeated request may refer to a run that the database lost, until the restore is reconciled.
 */
export const restoreNotReconciled = () =>
  new ApiError('UPSTREAM_UNAVAILABLE', messages.UPSTREAM_UNAVAILABLE, {
    headers: { 'retry-after': String(limits.http.restoreRetrySeconds) },
  });

export const postgresDiskShort = () =>
  new ApiError('UPSTREAM_UNAVAILABLE', messages.POSTGRES_DISK_SHORT, {
    headers: { 'retry-after': String(limits.http.postgresDiskShortRetrySeconds) },
  });

export const storageQuotaUsedUp = ({ limit, current }: { limit: number; current: number }) =>
  invalid(messages.STORAGE_QUOTA, { limit, current });

const budgetReached = ({ limit, current, budget }: Omit<Rejection, 'reason'>) =>
  new ApiError(
    'BUDGET_REACHED',
    `The ${budget ?? 'project'}'s monthly budget is reached. Wait until next month, or have the budget raised.`,
    { limit: limit ?? 0, current: current ?? 0, budget: budget ?? 'project' },
  );

type WithOwnError = 'FLOW_ARCHIVED' | 'BUDGET_REACHED' | 'PARENT_ENDED';

const messages: Record<Exclude<Rejection['reason'], WithOwnError>, string> = {
  PROJECT_ARCHIVED:
    'The project is archived. It accepts no runs, sessions or messages until an operator restores it.',
  RUNNER_OFFLINE: 'The host to which this flow is bound is offline.',
  CONCURRENT_LIMIT: "The project's concurrent run limit is reached.",
  MONTHLY_QUOTA: "The project's monthly run quota is reached.",
  UPSTREAM_UNAVAILABLE:
    'Whether the database lost this request in a restore is not known yet. Retry later.',
  INPUT_FILES_PURGED:
    "body.files: required, because the original run's input files are no longer stored",
  SESSION_LIMIT:
    "The project's limit of open sessions is reached. End sessions that are no longer needed.",
  TREE_DEPTH:
    'This run is at the maximum depth of its run tree, so it cannot start runs. Do the task yourself.',
  TREE_RUNS: "The run tree has reached childRuns.maxRuns of its root's flow. Do the task yourself.",
  TREE_CONCURRENT:
    "The run tree has reached childRuns.maxConcurrent of its root's flow. Wait until one of its runs has ended.",
  TREE_BUDGET: "The run tree has spent its budget, childRuns.maxBudgetUsd of its root's flow.",
  STORAGE_QUOTA:
    "The project's storage quota is used up. Delete runs, or ask an operator for a larger quota.",
  POSTGRES_DISK_SHORT: "The database's disk is almost full, so nothing new is stored. Retry later.",
  QUEUE_FULL: "The session's message queue is full.",
};
