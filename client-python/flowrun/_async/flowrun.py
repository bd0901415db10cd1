"""The entry to the service."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Iterable, Mapping, Optional, TypeVar, overload

import httpx
import pydantic
from typing_extensions import Self, Unpack

from .._generated.models import Flow, RunDetails, RunRecord
from .._generated.options import RunOptions, SessionOptions
from ..http_request import HttpRequest, segment
from ..input_files import FileContent
from ..retry_delay import Retry
from ..run_request import run_request
from .flow_files import AsyncFlowFiles
from .flow_names import AsyncFlowNames
from .http import AsyncHttp
from .run import AsyncRun
from .session import AsyncSession, get_session, open_session

M = TypeVar("M", bound=pydantic.BaseModel)


class AsyncFlowrun:
    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        project: Optional[str] = None,
        transport: Optional[httpx.AsyncBaseTransport] = None,
        on_retry: Optional[Callable[[Retry], None]] = None,
    ) -> None:
        """
        The defaults of `url` and `key` are the variables FLOWRUN_URL and FLOWRUN_KEY. `key` can be
        a run token, or an operator token with `project`: the project that the calls are for.
        `on_retry` is called before the wait for another attempt.
        """
        address = url or os.environ.get("FLOWRUN_URL")
        if not address:
            raise ValueError("The address of the service is missing: pass url, or set FLOWRUN_URL.")
        own_key = key or os.environ.get("FLOWRUN_KEY") or None
        # Operators call the routes of keys below the path of a project.
        root = "/api/v1" if project is None else f"/api/projects/{segment(project)}"
        self._http = AsyncHttp(
            address, root=root, key=own_key, transport=transport, on_retry=on_retry
        )
        self._flows = AsyncFlowNames(self._http)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.close()

    @overload
    async def run(
        self,
        flow: str,
        *,
        output: type[M],
        files: Iterable[FileContent] = (),
        context: Optional[Mapping[str, str]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncRun[M]: ...

    @overload
    async def run(
        self,
        flow: str,
        *,
        output: None = None,
        files: Iterable[FileContent] = (),
        context: Optional[Mapping[str, str]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncRun[Any]: ...

    async def run(
        self,
        flow: str,
        *,
        output: Optional[type[pydantic.BaseModel]] = None,
        files: Iterable[FileContent] = (),
        context: Optional[Mapping[str, str]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncRun[Any]:
        """
        Starts a run of a flow, given by name or ID. `output` is a model of the answer. `context` is
        sent as `X-Ctx-*` headers, and the agent gets it as `FLOW_CTX_*`.
        """
        request = run_request(options, output=output, files=files, context=context)
        data = await self._flows.with_flow(
            flow, lambda flow_id: self._http.data(request.at(f"/flows/{flow_id}/runs"))
        )
        return AsyncRun(self._http, RunRecord.model_validate(data), output)

    async def session(
        self, flow: str, *, id: Optional[str] = None, **options: Unpack[SessionOptions]
    ) -> AsyncSession:
        """Opens a session of a flow, or continues the one with this ID."""
        return await self._flows.with_flow(
            flow, lambda flow_id: open_session(self._http, flow_id, id, options)
        )

    async def get_session(self, run_id: str) -> AsyncSession:
        """Returns an existing session by its run. A run token of the session can do this."""
        return await get_session(self._http, run_id)

    async def get_run(self, run_id: str) -> AsyncRun[Any]:
        data = await self._http.data(HttpRequest(f"/runs/{segment(run_id)}"))
        return AsyncRun(self._http, RunDetails.model_validate(data))

    async def runs(
        self,
        *,
        flow: Optional[str] = None,
        status: Optional[str] = None,
        agent_status: Optional[str] = None,
        trigger_type: Optional[str] = None,
        session_id: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> AsyncIterator[AsyncRun[Any]]:
        """
        Yields the runs that have all of these labels and match the other filters, newest first. One
        request reads `page_size` runs.
        """
        query = {
            "flowId": None if flow is None else await self._flows.id_of(flow),
            "status": status,
            "agentStatus": agent_status,
            "triggerType": trigger_type,
            "sessionId": session_id,
            "label": [f"{name}:{value}" for name, value in (labels or {}).items()],
            "createdAfter": created_after,
            "createdBefore": created_before,
            "limit": page_size,
        }
        async for record in self._http.items(RunRecord, HttpRequest("/runs", query=query)):
            yield AsyncRun(self._http, record)

    def flow_files(self, flow: str) -> AsyncFlowFiles:
        """The files that later runs of a flow start with."""
        return AsyncFlowFiles(self._http, self._flows, flow)

    def flows(self) -> AsyncIterator[Flow]:
        return self._http.items(Flow, HttpRequest("/flows"))
