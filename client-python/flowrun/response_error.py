"""The error of a response that is not a success."""

from __future__ import annotations

import json
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, Optional

from .errors import ERROR_CLASSES, FlowrunError


def response_error(status: int, headers: Mapping[str, str], body: bytes) -> FlowrunError:
    envelope = _envelope(body)
    code = _text_or(envelope.get("code"), f"HTTP_{status}")
    error_class = ERROR_CLASSES.get(code, FlowrunError)
    budget = envelope.get("budget")
    return error_class(
        _text_or(envelope.get("message"), f"The response has the status {status}."),
        code=code,
        status=status,
        request_id=headers.get("x-request-id"),
        retry_after_seconds=_seconds_in(headers.get("retry-after")),
        limit=_number(envelope.get("limit")),
        current=_number(envelope.get("current")),
        budget=budget if budget in ("project", "flow", "key") else None,
    )


def _envelope(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    envelope = parsed.get("error") if isinstance(parsed, dict) else None
    return envelope if isinstance(envelope, dict) else {}


def _text_or(value: object, fallback: str) -> str:
    return value if isinstance(value, str) else fallback


def _number(value: object) -> Optional[float]:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else None  # type: ignore[return-value]


def _seconds_in(header: Optional[str]) -> Optional[float]:
    """A proxy may send a date instead."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return int(header)
    try:
        at = parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError):
        return None
    return max(0, math.ceil(at - time.time()))
