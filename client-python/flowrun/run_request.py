"""The request that starts a run."""

from __future__ import annotations

import uuid
from typing import Iterable, Mapping, Optional

import pydantic

from ._generated.options import RunOptions
from .http_request import HttpRequest, camel_case
from .input_files import FileContent, input_files


def run_request(
    options: RunOptions,
    *,
    output: Optional[type[pydantic.BaseModel]],
    files: Iterable[FileContent],
    context: Optional[Mapping[str, str]],
) -> HttpRequest:
    """
    The request has an idempotency key, so that it can be repeated. A request with `mcp_servers`
    cannot have one, and is not repeated after it was sent.
    """
    body = camel_case(options)
    is_repeatable = "mcp_servers" not in options
    if is_repeatable:
        body.setdefault("idempotencyKey", str(uuid.uuid4()))
    sent_files = input_files(files)
    if sent_files:
        body["files"] = sent_files
    if output is not None:
        body["outputSchema"] = output.model_json_schema()
    headers = {f"x-ctx-{name}": value for name, value in (context or {}).items()}
    return HttpRequest("", method="POST", json=body, headers=headers, is_repeatable=is_repeatable)
