import type { BudgetOwner } from '../../core/metering/monthly-budget.ts';

interface ErrorFacts {
  code: string;
  message: string;
  /** The status of the response; null if the error is not a response. */
  status?: number | null;
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  limit?: number;
  current?: number;
  budget?: BudgetOwner;
  cause?: unknown;
}

/** Every error of this package. `code` is stable, `message` can change. */
export class FlowrunError extends Error {
  readonly code: string;
  readonly status: number | null;
  /** The service logs the request under this ID. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** The limit that was reached, and the current value. */
  readonly limit: number | undefined;
  readonly current: number | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.name = new.target.name;
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.limit = facts.limit;
    this.current = facts.current;
  }
}

export class ValidationError extends FlowrunError {}
/** 401: no valid key. 403: the resource belongs to another project, or the key lacks a scope. */
export class Unauthorized extends FlowrunError {}
/** The project accepts no runs, sessions or messages. */
export class ProjectArchived extends FlowrunError {}
export class NotFound extends FlowrunError {}
export class MethodNotAllowed extends FlowrunError {}
export class RunnerOffline extends FlowrunError {}
export class MessageNotQueued extends FlowrunError {}
/** The version of the flow is kept, but its files are not. */
export class FilesNotKept extends FlowrunError {}
export class EndpointRetired extends FlowrunError {}
export class PreconditionFailed extends FlowrunError {}
export class PayloadTooLarge extends FlowrunError {}
export class RangeNotSatisfiable extends FlowrunError {}
export class RateLimited extends FlowrunError {}
export class ConcurrentLimit extends FlowrunError {}
export class MonthlyQuota extends FlowrunError {}
/** 429: a monthly budget is reached. `limit` and `current` are in dollars. */
export class BudgetReached extends FlowrunError {
  /** Whose budget it is. */
  readonly budget: BudgetOwner | undefined;

  constructor(facts: ErrorFacts) {
    super(facts);
    this.budget = facts.budget;
  }
}
/** 429: a run may not start another one, because a limit of its tree is reached. */
export class RunTreeLimit extends FlowrunError {}
export class SessionLimit extends FlowrunError {}
export class StreamLimit extends FlowrunError {}
export class WaitLimit extends FlowrunError {}
export class QueueFull extends FlowrunError {}
export class InternalError extends FlowrunError {}
export class UpstreamUnavailable extends FlowrunError {}

/** The request may or may not have reached the service. */
export class ConnectionFailed extends FlowrunError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'CONNECTION_FAILED', message, cause });
  }
}

/** The classes of the service's codes. Other codes are a plain `FlowrunError`. */
export const errorClasses: Record<string, typeof FlowrunError> = {
  VALIDATION_ERROR: ValidationError,
  UNAUTHORIZED: Unauthorized,
  PROJECT_ARCHIVED: ProjectArchived,
  NOT_FOUND: NotFound,
  METHOD_NOT_ALLOWED: MethodNotAllowed,
  RUNNER_OFFLINE: RunnerOffline,
  MESSAGE_NOT_QUEUED: MessageNotQueued,
  FILES_NOT_KEPT: FilesNotKept,
  ENDPOINT_RETIRED: EndpointRetired,
  PRECONDITION_FAILED: PreconditionFailed,
  PAYLOAD_TOO_LARGE: PayloadTooLarge,
  RANGE_NOT_SATISFIABLE: RangeNotSatisfiable,
  RATE_LIMITED: RateLimited,
  CONCURRENT_LIMIT: ConcurrentLimit,
  MONTHLY_QUOTA: MonthlyQuota,
  BUDGET_REACHED: BudgetReached,
  RUN_TREE_LIMIT: RunTreeLimit,
  SESSION_LIMIT: SessionLimit,
  STREAM_LIMIT: StreamLimit,
  WAIT_LIMIT: WaitLimit,
  QUEUE_FULL: QueueFull,
  INTERNAL_ERROR: InternalError,
  UPSTREAM_UNAVAILABLE: UpstreamUnavailable,
};

/** Also true for an error of another copy of this package, for which `instanceof` is false. */
export function isFlowrunError(error: unknown, code?: string): error is FlowrunError {
  if (!(error instanceof Error) || !('requestId' in error) || !('code' in error)) return false;
  return code === undefined || error.code === code;
}
