"""When a failed request is repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .errors import ConnectionFailed, FlowrunError

_WAITS_SECONDS = (1.0, 2.0, 4.0)
"""The waits before the second, third and fourth attempt, after which a request fails."""

_RETRYABLE_CODES = {
    "RATE_LIMITED",
    "CONCURRENT_LIMIT",
    "STREAM_LIMIT",
    "WAIT_LIMIT",
    "QUEUE_FULL",
}
"""Codes of requests that were rejected before they had an effect, and may succeed later."""


@dataclass(frozen=True)
class Retry:
    method: str
    path: str
    attempt: int
    """The number of the attempt that has failed, from 1."""
    delay_seconds: float
    error: FlowrunError


def retry_delay(attempt: int, error: FlowrunError, is_repeatable: bool) -> Optional[float]:
    """
    Returns the seconds to wait before the next attempt, or None if there is none.
    `is_repeatable`: a second request has no further effect.
    """
    if attempt > len(_WAITS_SECONDS):
        return None
    wait = _WAITS_SECONDS[attempt - 1]
    retry_after = error.retry_after_seconds
    if error.code in _RETRYABLE_CODES:
        return wait if retry_after is None else retry_after
    if isinstance(error, ConnectionFailed):
        return wait if is_repeatable or not error.was_sent else None
    if not is_repeatable or error.status is None or error.status < 500:
        return None
    if retry_after is not None:
        return retry_after
    return 0.0 if error.status == 503 else wait
