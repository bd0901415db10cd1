"""The flows of the key, by name or ID."""

from __future__ import annotations

import re
from time import monotonic
from typing import Awaitable, Callable, Optional, TypeVar

from .._generated.models import Flow
from ..errors import NotFound, ValidationError
from ..http_request import HttpRequest
from .http import AsyncHttp

T = TypeVar("T")

_KNOWN_FOR_SECONDS = 60.0
"""Another flow can get the name."""


class AsyncFlowNames:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http
        self._findings: dict[str, tuple[str, float]] = {}

    async def id_of(self, flow: str) -> str:
        """Names are looked up again after a minute."""
        if _is_uuid(flow):
            return flow
        return self._remembered(flow) or await self._look_up(flow)

    async def with_flow(self, flow: str, work: Callable[[str], Awaitable[T]]) -> T:
        """
        Calls `work` with the ID of a flow. The flow of a remembered name may have been archived
        since, and another one may have the name: then `work` is called again.
        """
        known = flow if _is_uuid(flow) else self._remembered(flow)
        if known is None:
            return await work(await self._look_up(flow))
        try:
            return await work(known)
        except NotFound:
            if _is_uuid(flow):
                raise
            another = await self._look_up(flow)
            if another == known:
                raise
        return await work(another)

    def _remembered(self, name: str) -> Optional[str]:
        flow_id, found_at = self._findings.get(name, (None, 0.0))
        return flow_id if monotonic() - found_at < _KNOWN_FOR_SECONDS else None

    async def _look_up(self, name: str) -> str:
        self._findings.pop(name, None)
        found: list[str] = []
        async for flow in self._http.items(Flow, HttpRequest("/flows")):
            if flow.name == name:
                found.append(flow.flow_id)
        if not found:
            raise NotFound(f"No flow has the name {name}.", code="NOT_FOUND")
        if len(found) > 1:
            message = f"Several flows have the name {name}. Use an ID: {', '.join(found)}."
            raise ValidationError(message, code="VALIDATION_ERROR")
        self._findings[name] = (found[0], monotonic())
        return found[0]


def _is_uuid(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text, re.I) is not None
