"""The text of an answer."""

from __future__ import annotations

from ._generated.events import RunEvent


class TextReader:
    """
    Reads the new text of an answer from its events. With partial messages the text arrives as
    deltas. Of the whole block that follows, only the missing rest is new.
    """

    def __init__(self) -> None:
        self._sent = ""

    def read(self, event: RunEvent) -> str:
        """Returns the new text, which may be empty."""
        if event.type == "stream_event":
            is_of_subagent = event.data.parent_tool_use_id is not None
            delta = event.data.event.delta
            if is_of_subagent or delta is None or delta.type != "text_delta":
                return ""
            self._sent += delta.text or ""
            return delta.text or ""
        if event.type != "chat_output":
            return ""
        text, sent = event.data.text, self._sent
        self._sent = ""
        return text[len(sent) :] if text.startswith(sent) else text
