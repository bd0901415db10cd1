"""Makes events from the frames of the service."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Optional

import pydantic

from ._generated.events import DATA_TYPES, EVENT_CLASSES, RunEvent, UnknownEvent


def to_event(name: str, seq: Optional[int], data: Any) -> RunEvent:
    """
    A frame of a kind that this version does not know becomes an `UnknownEvent`, and so does one
    whose data has another form.
    """
    event_class = EVENT_CLASSES.get(name)
    if event_class is None:
        return UnknownEvent("unknown", seq, data, name)
    try:
        event: RunEvent = event_class(name, seq, _adapter(name).validate_python(data))
    except pydantic.ValidationError:
        return UnknownEvent("unknown", seq, data, name)
    return event


@lru_cache(maxsize=None)
def _adapter(name: str) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(DATA_TYPES[name])
