"""The errors of this package."""

from __future__ import annotations

from typing import Optional


class FlowrunError(Exception):
    """Every error of this package. `code` is stable, the message can change."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after_seconds: Optional[float] = None,
        limit: Optional[float] = None,
        current: Optional[float] = None,
        budget: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        """The status of the response; None if the error is not a response."""
        self.request_id = request_id
        """The service logs the request under this ID."""
        self.retry_after_seconds = retry_after_seconds
        self.limit = limit
        """The limit that was reached."""
        self.current = current
        self.budget = budget
        """Whose monthly budget was reached: `project`, `flow` or `key`."""


class ValidationError(FlowrunError):
    pass


class Unauthorized(FlowrunError):
    """401: no valid key. 403: the resource belongs to another project, or the key lacks a scope."""


class ProjectArchived(FlowrunError):
    """The project accepts no runs, sessions or messages."""


class NotFound(FlowrunError):
    pass


class MethodNotAllowed(FlowrunError):
    pass


class RunnerOffline(FlowrunError):
    pass


class MessageNotQueued(FlowrunError):
    pass


class FilesNotKept(FlowrunError):
    """The version of the flow is kept, but its files are not."""


class EndpointRetired(FlowrunError):
    pass


class PreconditionFailed(FlowrunError):
    pass


class PayloadTooLarge(FlowrunError):
    pass


class RangeNotSatisfiable(FlowrunError):
    pass


class RateLimited(FlowrunError):
    pass


class ConcurrentLimit(FlowrunError):
    pass


class MonthlyQuota(FlowrunError):
    pass


class BudgetReached(FlowrunError):
    """429: a monthly budget is reached. `limit` and `current` are in dollars."""


class RunTreeLimit(FlowrunError):
    """429: a run may not start another one, because a limit of its tree is reached."""


class SessionLimit(FlowrunError):
    pass


class StreamLimit(FlowrunError):
    pass


class WaitLimit(FlowrunError):
    pass


class QueueFull(FlowrunError):
    pass


class InternalError(FlowrunError):
    pass


class UpstreamUnavailable(FlowrunError):
    pass


class ConnectionFailed(FlowrunError):
    """The request may or may not have reached the service."""

    def __init__(self, message: str, *, was_sent: bool = True) -> None:
        super().__init__(message, code="CONNECTION_FAILED")
        self.was_sent = was_sent
        """False if no connection was made, so the request has no effect."""


ERROR_CLASSES: dict[str, type[FlowrunError]] = {
    "VALIDATION_ERROR": ValidationError,
    "UNAUTHORIZED": Unauthorized,
    "PROJECT_ARCHIVED": ProjectArchived,
    "NOT_FOUND": NotFound,
    "METHOD_NOT_ALLOWED": MethodNotAllowed,
    "RUNNER_OFFLINE": RunnerOffline,
    "MESSAGE_NOT_QUEUED": MessageNotQueued,
    "FILES_NOT_KEPT": FilesNotKept,
    "ENDPOINT_RETIRED": EndpointRetired,
    "PRECONDITION_FAILED": PreconditionFailed,
    "PAYLOAD_TOO_LARGE": PayloadTooLarge,
    "RANGE_NOT_SATISFIABLE": RangeNotSatisfiable,
    "RATE_LIMITED": RateLimited,
    "CONCURRENT_LIMIT": ConcurrentLimit,
    "MONTHLY_QUOTA": MonthlyQuota,
    "BUDGET_REACHED": BudgetReached,
    "RUN_TREE_LIMIT": RunTreeLimit,
    "SESSION_LIMIT": SessionLimit,
    "STREAM_LIMIT": StreamLimit,
    "WAIT_LIMIT": WaitLimit,
    "QUEUE_FULL": QueueFull,
    "INTERNAL_ERROR": InternalError,
    "UPSTREAM_UNAVAILABLE": UpstreamUnavailable,
}
"""The classes of the service's codes. Other codes are a plain `FlowrunError`."""
