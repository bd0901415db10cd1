"""Checks that a webhook comes from the service."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import pydantic

from ._generated.webhooks import DATA_TYPES, EVENT_CLASSES, UnknownWebhook, WebhookEvent
from .errors import FlowrunError
from .signature import read_signatures


class WebhookRejected(FlowrunError):
    """The request does not come from the service, or is too old. Answer it with 400."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The webhook is rejected: {reason}.", code="WEBHOOK_REJECTED")


def verify_webhook(
    headers: Mapping[str, str],
    raw_body: Union[bytes, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> WebhookEvent:
    """
    Returns the event of a request that the service has signed; otherwise raises `WebhookRejected`.
    One signature is enough: of the service's headers, or of those of Standard Webhooks. While the
    secret is rotated, pass both. `raw_body` must not have been parsed. `now` is in Unix seconds.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    fields = {name.lower(): value for name, value in headers.items()}
    signatures = read_signatures(fields)
    if not signatures:
        raise WebhookRejected("it has no signature")
    secrets = [secret] if isinstance(secret, str) else secret
    valid = [each for each in signatures if any([each.is_of(key, body) for key in secrets])]
    if not valid:
        raise WebhookRejected("its signature is wrong")
    age_seconds = abs((time.time() if now is None else now) - int(valid[-1].time))
    if age_seconds > tolerance_seconds:
        raise WebhookRejected("its signature is too old, or a clock is wrong")
    name = fields.get("x-service-event", "")
    delivery_id = valid[-1].delivery_id or fields.get("x-service-delivery-id", "")
    event = _read_event(name, delivery_id, body)
    if event is None:
        raise WebhookRejected(f"its body is not that of {name}")
    return event


_CONFIRMATIONS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "run.started": lambda body: body.get("status") == "running",
    "run.finished": lambda body: body.get("status") == "sleep" and "sessionId" not in body,
    "session.idle": lambda body: "messageId" in body,
    "session.ended": lambda body: body.get("status") == "sleep" and "sessionId" in body,
    "interaction.asked": lambda body: "interactionId" in body,
    "delivery.dropped": lambda body: "deliveryId" in body,
    "schedule.missed": lambda body: "count" in body and "reason" in body,
    "budget.reached": lambda body: "budget" in body and "percent" in body,
    "endpoint.test": lambda body: "sentAt" in body,
}
"""
How the body of each event differs from the others. The signature does not cover the header with
the event, so the body has to confirm it.
"""


def _read_event(name: str, delivery_id: str, body: bytes) -> Optional[WebhookEvent]:
    """None if the body is not that of the event. Without a name, the body decides."""
    try:
        data = json.loads(body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    type_ = name or _name_of(data)
    if type_ not in EVENT_CLASSES:
        return UnknownWebhook("unknown", delivery_id, data, type_)
    if not _CONFIRMATIONS[type_](data):
        return None
    try:
        event: WebhookEvent = EVENT_CLASSES[type_](
            type_, delivery_id, _adapter(type_).validate_python(data)
        )
    except pydantic.ValidationError:
        return None
    return event


def _name_of(data: Mapping[str, Any]) -> str:
    """For a request that has only the headers of Standard Webhooks."""
    return next((name for name, confirms in _CONFIRMATIONS.items() if confirms(data)), "")


@lru_cache(maxsize=None)
def _adapter(name: str) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(DATA_TYPES[name])
