"""Archives of files."""

from __future__ import annotations

from typing import IO, AsyncIterator

import httpx

from ..errors import ConnectionFailed
from ..http_request import HttpRequest
from .http import AsyncHttp


async def save_archive(parts: AsyncIterator[bytes], file: IO[bytes]) -> None:
    async for part in parts:
        file.write(part)
    file.seek(0)


async def read_archive(http: AsyncHttp, request: HttpRequest) -> AsyncIterator[bytes]:
    response = await http.send(request)
    try:
        async for part in response.aiter_bytes():
            yield part
    except httpx.RequestError as error:
        raise ConnectionFailed(f"The archive was cut off: {error}") from error
    finally:
        await response.aclose()
