"""Reads the files of an archive."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from typing import IO, Iterable, Iterator

from .input_files import FileContent


def extract(archive: IO[bytes], folder: Path) -> list[str]:
    """Returns the paths of the files. Rejects links, and paths that lead out of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    root = folder.resolve()
    paths: list[str] = []
    for entry, content in _entries(archive):
        target = _target(root, entry.name)
        target.unlink(missing_ok=True)
        # The file is new, so nothing follows a link.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(target, flags, entry.mode & 0o777), "wb") as file:
            file.write(content)
        paths.append(entry.name)
    return paths


def files_beside(given: Iterable[FileContent], archive: IO[bytes]) -> list[FileContent]:
    """The files of an archive whose paths are not among those of the given files."""
    paths = {file.path for file in given}
    return [
        FileContent(entry.name, content, "0755" if entry.mode & 0o100 else "0644")
        for entry, content in _entries(archive)
        if entry.name not in paths
    ]


def _entries(archive: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Reads one file at a time. Raises an error if the archive ends early."""
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        for entry in tar:
            content = tar.extractfile(entry) if entry.isreg() else None
            if content is None:
                raise ValueError(f"The entry {entry.name} of the archive is not a file.")
            yield entry, content.read()


def _target(root: Path, name: str) -> Path:
    target = Path(os.path.normpath(root / name))
    if root not in target.parents:
        raise _outside(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    # A link in the folder could lead out of it.
    parent = target.parent.resolve()
    if parent != root and root not in parent.parents:
        raise _outside(name)
    return target


def _outside(name: str) -> ValueError:
    return ValueError(f"The path {name} leads out of the folder.")
