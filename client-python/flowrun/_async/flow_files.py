"""The files that every later run of a flow starts with, as one set."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import AsyncIterator, Iterable, List, Optional, Union

import httpx

from .._generated.models import FileEntry
from ..errors import PreconditionFailed
from ..extract import extract, files_beside
from ..http_request import HttpRequest, encoded_path
from ..input_files import FileContent, input_files
from .archive import read_archive, save_archive
from .flow_names import AsyncFlowNames
from .http import AsyncHttp

_ADD_ATTEMPTS_MAX = 5


class AsyncFlowFiles:
    """
    With `if_match`, a change is made only if the set still has this ETag; otherwise it raises
    `PreconditionFailed`.
    """

    def __init__(self, http: AsyncHttp, flows: AsyncFlowNames, flow: str) -> None:
        self._http = http
        self._flows = flows
        self._flow = flow

    async def list(self, *, prefix: Optional[str] = None) -> AsyncIterator[FileEntry]:
        path = f"/flows/{await self._flows.id_of(self._flow)}/files"
        async for entry in self._http.items(FileEntry, HttpRequest(path, query={"prefix": prefix})):
            yield entry

    async def read_etag(self) -> str:
        """Changes whenever a file of the set changes."""
        response = await self._send("", HttpRequest("", query={"limit": 1}))
        return str(response.headers.get("etag", ""))

    async def read(self, path: str) -> bytes:
        return (await self._send(f"/{encoded_path(path)}", HttpRequest(""))).content

    async def read_text(self, path: str) -> str:
        return (await self.read(path)).decode()

    async def archive(self, *, prefix: Optional[str] = None) -> AsyncIterator[bytes]:
        """Yields the parts of a tar archive. If it raises an error, the archive is incomplete."""
        path = f"/flows/{await self._flows.id_of(self._flow)}/files.tar"
        async for part in read_archive(self._http, HttpRequest(path, query={"prefix": prefix})):
            yield part

    async def pull(self, folder: Union[str, Path], *, prefix: Optional[str] = None) -> List[str]:
        """Writes the files to a folder, and returns their paths."""
        with tempfile.TemporaryFile() as archive:
            await save_archive(self.archive(prefix=prefix), archive)
            return extract(archive, Path(folder))

    async def add(self, files: Iterable[FileContent]) -> None:
        """Adds files, or replaces those with the same path. Other files and their changes stay."""
        added = list(files)
        for attempt in range(1, _ADD_ATTEMPTS_MAX + 1):
            # The set is replaced only if nothing else has changed it since it was read.
            etag = await self.read_etag()
            with tempfile.TemporaryFile() as archive:
                await save_archive(self.archive(), archive)
                others = files_beside(added, archive)
            try:
                await self.replace([*others, *added], if_match=etag)
                return
            except PreconditionFailed:
                if attempt == _ADD_ATTEMPTS_MAX:
                    raise

    async def replace(
        self, files: Iterable[FileContent], *, if_match: Optional[str] = None
    ) -> None:
        """Replaces all files."""
        body = {"files": input_files(files)}
        request = HttpRequest("", method="PUT", json=body, headers=_headers_of(if_match))
        await self._send("", request)

    async def replace_by_archive(self, archive: bytes, *, if_match: Optional[str] = None) -> None:
        """Replaces all files with those of a tar archive."""
        headers = {**_headers_of(if_match), "content-type": "application/x-tar"}
        await self._send(".tar", HttpRequest("", method="PUT", body=archive, headers=headers))

    async def delete(self, path: str, *, if_match: Optional[str] = None) -> None:
        await self._remove(f"/{encoded_path(path)}", if_match)

    async def delete_all(self, *, if_match: Optional[str] = None) -> None:
        await self._remove("", if_match)

    async def _send(self, part: str, request: HttpRequest) -> httpx.Response:
        """Sends a request to the path of the set, or of a part of it."""
        return await self._flows.with_flow(
            self._flow,
            lambda flow_id: self._http.read(request.at(f"/flows/{flow_id}/files{part}")),
        )

    async def _remove(self, part: str, if_match: Optional[str]) -> None:
        headers = _headers_of(if_match)
        await self._flows.with_flow(
            self._flow,
            lambda flow_id: self._http.remove(
                HttpRequest(f"/flows/{flow_id}/files{part}", headers=headers)
            ),
        )


def _headers_of(if_match: Optional[str]) -> dict[str, str]:
    return {} if if_match is None else {"if-match": if_match}
