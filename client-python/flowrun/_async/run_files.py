"""The files of a run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import AsyncIterator, Iterable, List, Optional, Union

from .._generated.models import FileChange, FileEntry
from ..extract import extract
from ..http_request import HttpRequest, encoded_path
from ..input_files import FileContent, input_files
from .archive import read_archive, save_archive
from .http import AsyncHttp


class AsyncRunFiles:
    def __init__(self, http: AsyncHttp, run_id: str) -> None:
        self._http = http
        self._path = f"/runs/{run_id}/files"

    def list(
        self, *, prefix: Optional[str] = None, scope: Optional[str] = None
    ) -> AsyncIterator[FileEntry]:
        """Yields the files. `scope`: `flow` for files of the flow, `run` for all others."""
        query = {"prefix": prefix, "scope": scope}
        return self._http.items(FileEntry, HttpRequest(self._path, query=query))

    async def read(self, path: str) -> bytes:
        response = await self._http.read(HttpRequest(f"{self._path}/{encoded_path(path)}"))
        return response.content

    async def read_text(self, path: str) -> str:
        return (await self.read(path)).decode()

    async def add(self, files: Iterable[FileContent]) -> List[FileEntry]:
        """Adds files, or replaces those with the same path."""
        body = {"files": input_files(files)}
        request = HttpRequest(self._path, method="POST", json=body, is_repeatable=True)
        return [FileEntry.model_validate(entry) for entry in await self._http.data(request)]

    def archive(
        self,
        *,
        prefix: Optional[str] = None,
        scope: Optional[str] = None,
        is_compressed: bool = False,
    ) -> AsyncIterator[bytes]:
        """Yields the parts of a tar archive. If it raises an error, the archive is incomplete."""
        query = {"prefix": prefix, "scope": scope}
        path = f"{self._path}.tar.gz" if is_compressed else f"{self._path}.tar"
        return read_archive(self._http, HttpRequest(path, query=query))

    async def add_archive(self, archive: bytes, *, is_compressed: bool = False) -> List[FileEntry]:
        """Adds the files of a tar archive."""
        request = HttpRequest(
            f"{self._path}.tar.gz" if is_compressed else f"{self._path}.tar",
            method="PUT",
            body=archive,
            headers={"content-type": f"application/{'gzip' if is_compressed else 'x-tar'}"},
        )
        return [FileEntry.model_validate(entry) for entry in await self._http.data(request)]

    async def pull(
        self,
        folder: Union[str, Path],
        *,
        prefix: Optional[str] = None,
        scope: Optional[str] = None,
    ) -> List[str]:
        """Writes the files to a folder, and returns their paths."""
        with tempfile.TemporaryFile() as archive:
            await save_archive(self.archive(prefix=prefix, scope=scope), archive)
            return extract(archive, Path(folder))


class AsyncRunChanges:
    def __init__(self, http: AsyncHttp, run_id: str) -> None:
        self._http = http
        self._path = f"/runs/{run_id}/changes"

    def list(self, *, prefix: Optional[str] = None) -> AsyncIterator[FileChange]:
        """Yields the files that differ from the original files of the run."""
        return self._http.items(FileChange, HttpRequest(self._path, query={"prefix": prefix}))

    async def patch(self, *, prefix: Optional[str] = None) -> str:
        """Returns the same as a patch for `git apply`."""
        query = {"prefix": prefix, "format": "patch"}
        response = await self._http.read(HttpRequest(self._path, query=query))
        return response.content.decode()
