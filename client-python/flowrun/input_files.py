"""Files to send."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Iterable, Literal, Optional, Union


@dataclass(frozen=True)
class FileContent:
    path: str
    """Relative to the working directory, with slashes."""
    content: Union[str, bytes]
    """Text is sent as UTF-8."""
    mode: Optional[Literal["0644", "0755"]] = None


def input_files(files: Iterable[FileContent]) -> list[dict[str, Any]]:
    return [_input_file(file) for file in files]


def _input_file(file: FileContent) -> dict[str, Any]:
    mode = {} if file.mode is None else {"mode": file.mode}
    if isinstance(file.content, str):
        return {"path": file.path, "content": file.content, "encoding": "utf8", **mode}
    content = base64.b64encode(file.content).decode()
    return {"path": file.path, "content": content, "encoding": "base64", **mode}
