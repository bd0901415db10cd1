"""A message that was sent."""

from __future__ import annotations

from typing import AsyncIterator, Awaitable, Callable, Optional

from .._generated.events import RunEvent
from .._generated.models import QueuedMessage, Turn
from ..errors import WaitLimit
from ..turn_text import TextReader


class AsyncPendingTurn:
    """The turn of a message: an iterable of the answer's text, and the result of the turn."""

    def __init__(
        self,
        message: QueuedMessage,
        *,
        follow: Callable[[], AsyncIterator[RunEvent]],
        wait: Callable[[], Awaitable[Optional[Turn]]],
    ) -> None:
        """
        `follow` yields the events after the message was sent. `wait` sends the message again, with
        the same ID, and returns None if the turn has not ended in time.
        """
        self._follow = follow
        self._wait = wait
        self._result: Optional[Turn] = None
        self.message = message
        """The message as the service has stored it."""

    async def events(self) -> AsyncIterator[RunEvent]:
        """Yields the events from the start of the turn to its end."""
        has_started = False
        async for event in self._follow():
            is_own = getattr(event.data, "message_id", None) == self.message.message_id
            has_started = has_started or is_own
            if has_started:
                yield event
            if is_own and event.type in ("turn_end", "message_withdrawn"):
                return

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yields the text of the answer. A turn that is run again yields its text again."""
        reader = TextReader()
        async for event in self.events():
            text = reader.read(event)
            if text != "":
                yield text

    async def result(self) -> Turn:
        """Waits for the end of the turn, and returns its last attempt."""
        while self._result is None:
            try:
                self._result = await self._wait()
            except WaitLimit:
                async for _ in self.events():
                    pass
        return self._result
