"""Reads server-sent events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

# A CR at the end of the bytes may be half of a CRLF.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True)
class Message:
    name: str
    id: Optional[str]
    data: str


class SseParser:
    """Takes the bytes of one connection in parts of any size."""

    def __init__(self) -> None:
        self.retry_seconds: Optional[float] = None
        """The delay that the service has requested."""
        self._rest = bytearray()
        self._name = "message"
        self._id: Optional[str] = None
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Message]:
        """Returns the messages that the bytes complete."""
        has_line_end = b"\n" in chunk or b"\r" in chunk or self._rest.endswith(b"\r")
        self._rest += chunk
        if not has_line_end:
            return []
        *lines, self._rest = (bytearray(part) for part in _LINE_END.split(self._rest))
        messages = (self._read_line(line.decode("utf-8", "replace")) for line in lines)
        return [message for message in messages if message is not None]

    def _read_line(self, line: str) -> Optional[Message]:
        if line == "":
            return self._end_message()
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id":
            self._id = value
        elif field == "retry" and value.isdecimal():
            self.retry_seconds = int(value) / 1_000
        return None

    def _end_message(self) -> Optional[Message]:
        message = Message(self._name, self._id, "\n".join(self._data)) if self._data else None
        self._name, self._id, self._data = "message", None, []
        return message
