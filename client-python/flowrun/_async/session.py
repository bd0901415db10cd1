"""A conversation with an agent."""

from __future__ import annotations

import uuid
from typing import Any, AsyncIterator, Iterable, Optional

from typing_extensions import Unpack

from .._generated.models import (
    ChangedConfig,
    OpenedSession,
    QueuedMessage,
    RunDetails,
    SessionDetails,
    Turn,
    UnfinishedMessage,
)
from .._generated.options import ConfigChanges, SessionOptions
from ..errors import NotFound
from ..http_request import HttpRequest, camel_case, segment
from ..input_files import FileContent, input_files
from .follow import AsyncFollower
from .http import AsyncHttp
from .read_log import read_last_seq
from .run import AsyncRun
from .turn import AsyncPendingTurn

_WAIT_MAX_SECONDS = 330.0
"""The service waits for a turn for five minutes at most."""


class AsyncSession:
    def __init__(self, http: AsyncHttp, run: AsyncRun[Any], session_id: str) -> None:
        self._http = http
        self.session_id = session_id
        self.flow_id = run.record.flow_id
        self.run = run
        """The run of the whole session: its events, files and questions."""
        self._path = f"/flows/{self.flow_id}/sessions/{segment(session_id)}"

    async def send(
        self,
        message: str,
        *,
        files: Iterable[FileContent] = (),
        client_message_id: Optional[str] = None,
    ) -> AsyncPendingTurn:
        """
        Sends a message, which is one turn. Messages that are sent during a turn are queued.
        `client_message_id` deduplicates the message within its session; the default is a random ID.
        """
        body: dict[str, Any] = {
            "sessionId": self.session_id,
            "message": message,
            "clientMessageId": client_message_id or str(uuid.uuid4()),
        }
        sent_files = input_files(files)
        if sent_files:
            body["files"] = sent_files
        # The turn of a message that was sent before may have ended.
        is_repeated = client_message_id is not None
        after = 0 if is_repeated else await read_last_seq(self._http, self.run.run_id)
        queued = QueuedMessage.model_validate(await self._chat({**body, "stream": True}))

        async def wait() -> Optional[Turn]:
            data = await self._chat({**body, "stream": False})
            return Turn.model_validate(data) if "exitCode" in data else None

        return AsyncPendingTurn(
            queued,
            follow=lambda: AsyncFollower(self._http, self.run.run_id, after=after).events(),
            wait=wait,
        )

    async def read(self) -> SessionDetails:
        return SessionDetails.model_validate(await self._http.data(HttpRequest(self._path)))

    def messages(self) -> AsyncIterator[UnfinishedMessage]:
        """Yields the message in progress and the queued ones."""
        return self._http.items(UnfinishedMessage, HttpRequest(f"{self._path}/messages"))

    async def withdraw(self, message_id: str) -> None:
        """Removes a queued message."""
        await self._http.remove(HttpRequest(f"{self._path}/messages/{segment(message_id)}"))

    async def configure(self, **changes: Unpack[ConfigChanges]) -> ChangedConfig:
        """Changes the configuration from the next turn on; None removes a value."""
        path, body = f"{self._path}/config", camel_case(changes)
        data = await self._http.data(HttpRequest(path, method="PATCH", json=body))
        return ChangedConfig.model_validate(data)

    async def end(self) -> None:
        await self._http.remove(HttpRequest(self._path))

    async def _chat(self, body: dict[str, Any]) -> Any:
        request = HttpRequest(
            f"/flows/{self.flow_id}/chat",
            method="POST",
            json=body,
            is_repeatable=True,
            timeout_seconds=_WAIT_MAX_SECONDS,
        )
        return await self._http.data(request)


async def open_session(
    http: AsyncHttp, flow_id: str, session_id: Optional[str], options: SessionOptions
) -> AsyncSession:
    """Opens a session with an ID that the client chooses, so that the request can be repeated."""
    body = {**camel_case(options), "sessionId": session_id or str(uuid.uuid4())}
    path = f"/flows/{flow_id}/sessions"
    request = HttpRequest(path, method="POST", json=body, is_repeatable=True)
    opened = OpenedSession.model_validate(await http.data(request))
    return await get_session(http, opened.run_id)


async def get_session(http: AsyncHttp, run_id: str) -> AsyncSession:
    """The session of a run, for callers that have a run token and may open none."""
    details = RunDetails.model_validate(await http.data(HttpRequest(f"/runs/{segment(run_id)}")))
    if details.session_id is None:
        raise NotFound(f"The run {run_id} is not a session.", code="NOT_FOUND")
    return AsyncSession(http, AsyncRun(http, details), details.session_id)
