"""Requests to the service, repeated where that is safe."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, AsyncIterator, Callable, Optional, TypeVar

import httpx

from .._generated.models import Model
from ..errors import ConnectionFailed, FlowrunError, NotFound
from ..http_request import HttpRequest, data_in, next_cursor, service_of
from ..response_error import response_error
from ..retry_delay import Retry, retry_delay

M = TypeVar("M", bound=Model)

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class AsyncHttp:
    def __init__(
        self,
        url: str,
        *,
        root: str,
        key: Optional[str],
        transport: Optional[httpx.AsyncBaseTransport],
        on_retry: Optional[Callable[[Retry], None]],
    ) -> None:
        self._base = service_of(url) + root
        self._key = key
        self._on_retry = on_retry
        # Streams occupy their connections for as long as their runs last.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(transport=transport, limits=limits)

    async def send(self, request: HttpRequest) -> httpx.Response:
        """Returns a successful response, whose body has not been read. The caller closes it."""
        return await self._call(request, is_streamed=True)

    async def read(self, request: HttpRequest) -> httpx.Response:
        """Returns a successful response. A body that is cut off is requested again."""
        return await self._call(request, is_streamed=False)

    async def data(self, request: HttpRequest) -> Any:
        """Returns the `data` of a successful response."""
        return data_in(await self.read(request))

    async def remove(self, request: HttpRequest) -> Any:
        """
        Deletes what the path names. A repeated request finds nothing if only the answer to an
        earlier one was lost: then returns None.
        """
        failures: list[FlowrunError] = []

        def on_retry(retry: Retry) -> None:
            failures.append(retry.error)

        try:
            return await self.data(replace(request, method="DELETE", on_retry=on_retry))
        except NotFound:
            if any(_may_have_arrived(error) for error in failures):
                return None
            raise

    async def items(self, model: type[M], request: HttpRequest) -> AsyncIterator[M]:
        """Yields the items of every page."""
        query = dict(request.query)
        while True:
            response = await self.read(replace(request, query=query))
            for item in data_in(response):
                yield model.model_validate(item)
            cursor = next_cursor(response.headers.get("link"))
            if cursor is None:
                return
            query["cursor"] = cursor

    async def close(self) -> None:
        await self._client.aclose()

    async def _call(self, request: HttpRequest, *, is_streamed: bool) -> httpx.Response:
        attempt = 1
        while True:
            try:
                return await self._call_once(request, is_streamed)
            except FlowrunError as error:
                delay = retry_delay(attempt, error, request.may_be_repeated)
                if attempt >= request.attempts or delay is None:
                    raise
                retry = Retry(request.method, request.path, attempt, delay, error)
            for on_retry in (self._on_retry, request.on_retry):
                if on_retry is not None:
                    on_retry(retry)
            await asyncio.sleep(delay)
            attempt += 1

    async def _call_once(self, request: HttpRequest, is_streamed: bool) -> httpx.Response:
        url = f"{self._base}{request.path}"
        built = self._client.build_request(
            request.method,
            url,
            params=request.parameters(),
            headers=request.all_headers(self._key),
            content=request.content(),
            timeout=request.timeout_seconds,
        )
        try:
            response = await self._client.send(built, stream=is_streamed)
            if not response.is_success:
                await response.aread()
        except httpx.RequestError as error:
            was_sent = not isinstance(error, _NEVER_SENT)
            message = f"{request.method} {url} failed: {error}"
            raise ConnectionFailed(message, was_sent=was_sent) from error
        if response.is_success:
            return response
        raise response_error(response.status_code, response.headers, response.content)


def _may_have_arrived(error: FlowrunError) -> bool:
    return isinstance(error, ConnectionFailed) or (error.status or 0) >= 500
