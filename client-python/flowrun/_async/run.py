"""A run of a flow."""

from __future__ import annotations

from typing import (
    Any,
    AsyncIterator,
    Generic,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

import pydantic
from typing_extensions import Unpack

from .._generated.events import InteractionEvent, RunEvent
from .._generated.models import LogEntry, PendingInteraction, RunDetails, RunRecord, RunToken
from .._generated.options import RunOptions
from ..http_request import HttpRequest, segment, without_none
from ..input_files import FileContent
from ..result import RunResult, result_of
from ..run_request import run_request
from .follow import AsyncFollower
from .http import AsyncHttp
from .read_log import read_log
from .run_files import AsyncRunChanges, AsyncRunFiles

T = TypeVar("T")


class AsyncRun(Generic[T]):
    def __init__(
        self,
        http: AsyncHttp,
        record: RunRecord,
        output: Optional[type[pydantic.BaseModel]] = None,
    ) -> None:
        self._http = http
        self._output = output
        self._path = f"/runs/{record.run_id}"
        self.run_id = record.run_id
        self.record = record
        """The run as it was when this object was created. `read` returns its current state."""
        self.files = AsyncRunFiles(http, record.run_id)
        self.changes = AsyncRunChanges(http, record.run_id)

    def events(self, *, after: int = 0) -> AsyncIterator[RunEvent]:
        """
        Yields every event of the run after a frame, each once, and ends after `finished`.
        Reconnects until then.
        """
        return AsyncFollower(self._http, self.run_id, after=after).events()

    def log(
        self, *, channel: str = "all", after: int = 0, before: Optional[int] = None
    ) -> AsyncIterator[LogEntry]:
        """
        Yields the stored events between two frames, without waiting for further ones. `channel`:
        `output` is what a terminal shows, `chat` has the events of the agent.
        """
        return read_log(self._http, self.run_id, channel=channel, after=after, before=before)

    async def result(self) -> RunResult[T]:
        """Waits for the end of the run. Raises `RunFailed` if it did not complete cleanly."""
        if self.record.finished_at is None:
            async for _ in AsyncFollower(self._http, self.run_id, is_over=self._is_over).events():
                pass
        return result_of(await self.read(), self._output)

    async def read(self) -> RunDetails:
        return RunDetails.model_validate(await self._http.data(HttpRequest(self._path)))

    async def answer(
        self,
        interaction: Union[InteractionEvent, PendingInteraction, str],
        answers: Mapping[str, Union[str, Sequence[str]]],
    ) -> None:
        """
        Answers a question of the agent, given by its event or ID. The answers are keyed by the text
        of the question; a list selects several options.
        """
        if isinstance(interaction, InteractionEvent):
            interaction = interaction.data.interaction_id
        elif isinstance(interaction, PendingInteraction):
            interaction = interaction.interaction_id
        await self._post(f"interactions/{segment(interaction)}", {"answers": answers})

    async def set_labels(self, labels: Mapping[str, Optional[str]]) -> RunRecord:
        """Sets the given labels; None removes one."""
        path, body = f"{self._path}/labels", {"labels": labels}
        data = await self._http.data(HttpRequest(path, method="PATCH", json=body))
        return RunRecord.model_validate(data)

    async def stop(self, *, grace_seconds: Optional[float] = None) -> RunRecord:
        """Asks the agent to end, and ends it after `grace_seconds`."""
        data = await self._post("stop", without_none(graceSeconds=grace_seconds))
        return RunRecord.model_validate(data)

    async def interrupt(self) -> RunRecord:
        """
        Ends a plain run, or the current turn of a session. It is not repeated if it fails, because
        it could hit another turn.
        """
        data = await self._post("interrupt", {}, is_repeatable=False)
        return RunRecord.model_validate(data)

    async def delete(self) -> None:
        await self._http.remove(HttpRequest(self._path))

    async def retry(
        self,
        *,
        files: Iterable[FileContent] = (),
        context: Optional[Mapping[str, str]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncRun[Any]:
        """Starts a run of the same flow with the input of this one, which must have ended."""
        request = run_request(options, output=None, files=files, context=context)
        data = await self._http.data(request.at(f"{self._path}/retry"))
        return AsyncRun(self._http, RunRecord.model_validate(data))

    async def create_token(self, *, expires_in_seconds: Optional[int] = None) -> RunToken:
        """Creates a token for this run, which a web page can use instead of a key."""
        data = await self._post("token", without_none(expiresInSeconds=expires_in_seconds))
        return RunToken.model_validate(data)

    async def _is_over(self) -> bool:
        return (await self.read()).finished_at is not None

    async def _post(
        self, action: str, body: Mapping[str, Any], *, is_repeatable: bool = True
    ) -> Any:
        path = f"{self._path}/{action}"
        return await self._http.data(
            HttpRequest(path, method="POST", json=body, is_repeatable=is_repeatable)
        )
