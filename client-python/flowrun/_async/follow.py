"""
Follows a run over any number of connections. Every connection asks for the frames after the last
one that was yielded, and a frame is yielded only if its number is higher. So the frames equal the
log of the run, each once and in order. Frames that the service cannot replay are read from the log.
"""

from __future__ import annotations

import asyncio
import json
from time import monotonic
from typing import Any, AsyncIterator, Awaitable, Callable, Optional

import httpx

from .._generated.events import RunEvent
from ..errors import ConnectionFailed, FlowrunError
from ..events import to_event
from ..http_request import HttpRequest
from ..sse import Message, SseParser
from .http import AsyncHttp
from .read_log import read_log

_SILENCE_MAX_SECONDS = 40.0
"""The service sends a ping every 15 seconds."""

_BACKOFF_MAX_SECONDS = 30.0

_UNREACHABLE_MAX_SECONDS = 15 * 60.0
"""After this time without a connection, the client gives up."""


class AsyncFollower:
    def __init__(
        self,
        http: AsyncHttp,
        run_id: str,
        *,
        after: int = 0,
        is_over: Optional[Callable[[], Awaitable[bool]]] = None,
    ) -> None:
        """
        `is_over` is called before each further connection; true: nothing follows. With it, a stream
        that a proxy holds back is no error.
        """
        self._http = http
        self._run_id = run_id
        self._is_over = is_over
        self._seq = after
        self._has_finished = False
        self._snapshots: dict[str, str] = {}
        """The last status and file tree: every connection begins with them."""
        self._was_open = False
        self._reached_until = monotonic()
        self._failures = 0
        """Consecutive connections that were not accepted."""
        self._retry_seconds = 1.0
        """The delay that the service has requested."""
        self._retry_after_seconds = 0.0

    async def events(self) -> AsyncIterator[RunEvent]:
        """Yields every event once, and ends after `finished`."""
        while True:
            must_open = not self._was_open and self._is_over is None
            self._failures += 1
            self._retry_after_seconds = 0.0
            try:
                response = await self._open(attempts=4 if must_open else 1)
                try:
                    async for message in self._messages(response):
                        async for event in self._events_of(message):
                            yield event
                        if self._has_finished:
                            return
                finally:
                    await response.aclose()
            except FlowrunError as error:
                # The error of a first connection that fails is one of the caller's request.
                if (must_open and not self._was_open) or not self._may_reconnect(error):
                    raise
                self._retry_after_seconds = error.retry_after_seconds or 0.0
            if self._failures == 0:
                self._reached_until = monotonic()
            await asyncio.sleep(self._delay_seconds())
            if self._is_over is not None:
                if await self._is_over():
                    return
                self._reached_until = monotonic()

    async def _open(self, attempts: int) -> httpx.Response:
        headers = {"accept": "text/event-stream", "last-event-id": str(self._seq)}
        response = await self._http.send(
            HttpRequest(
                f"/runs/{self._run_id}/stream",
                headers=headers,
                attempts=attempts,
                timeout_seconds=_SILENCE_MAX_SECONDS,
            )
        )
        self._was_open, self._failures = True, 0
        return response

    async def _messages(self, response: httpx.Response) -> AsyncIterator[Message]:
        parser = SseParser()
        try:
            async for chunk in response.aiter_bytes():
                for message in parser.feed(chunk):
                    yield message
                if parser.retry_seconds is not None:
                    self._retry_seconds = parser.retry_seconds
        except httpx.RequestError as error:
            raise ConnectionFailed(f"The stream was cut off: {error}") from error

    async def _events_of(self, message: Message) -> AsyncIterator[RunEvent]:
        seq = None if message.id is None else int(message.id)
        if message.name in ("status", "filetree"):
            if self._snapshots.get(message.name) == message.data:
                return
            self._snapshots[message.name] = message.data
        data: Any = json.loads(message.data)
        event = to_event(message.name, seq, data)
        if event.type == "replay_truncated":
            available = event.data.first_available_seq
            log = read_log(self._http, self._run_id, after=self._seq, before=available)
            async for entry in log:
                self._seq = entry.seq
                yield to_event(entry.event, entry.seq, entry.data)
            if self._seq + 1 >= available:
                return
            self._seq = available - 1
        # Also if the caller has seen it before.
        self._has_finished = event.type == "finished"
        if seq is not None and seq <= self._seq:
            return
        self._seq = self._seq if seq is None else seq
        yield event

    def _may_reconnect(self, error: FlowrunError) -> bool:
        unreachable_seconds = monotonic() - self._reached_until
        if self._failures > 0 and unreachable_seconds > _UNREACHABLE_MAX_SECONDS:
            return False
        status = error.status or 0
        return isinstance(error, ConnectionFailed) or status == 429 or status >= 500

    def _delay_seconds(self) -> float:
        backoff = min(2.0 ** (self._failures - 1), _BACKOFF_MAX_SECONDS) if self._failures else 0.0
        return max(self._retry_seconds, self._retry_after_seconds, backoff)
