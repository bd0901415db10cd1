"""The parts of requests and responses that need no connection."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Optional
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from .errors import ConnectionFailed
from .retry_delay import Retry


@dataclass(frozen=True)
class HttpRequest:
    path: str
    """Relative to the root of the API."""
    method: str = "GET"
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    """Sent as JSON."""
    body: Optional[bytes] = None
    """Sent unchanged."""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: Optional[bool] = None
    """A second request has no further effect. The default is True for all methods but `POST`."""
    attempts: int = 4
    timeout_seconds: float = 60.0
    """The longest silence of the service."""
    on_retry: Optional[Callable[[Retry], None]] = None

    def at(self, path: str) -> HttpRequest:
        return replace(self, path=path)

    @property
    def may_be_repeated(self) -> bool:
        return self.method != "POST" if self.is_repeatable is None else self.is_repeatable

    def content(self) -> Optional[bytes]:
        if self.json is None:
            return self.body
        return json.dumps(self.json, ensure_ascii=False, separators=(",", ":")).encode()

    def all_headers(self, key: Optional[str]) -> list[tuple[bytes, bytes]]:
        own = {} if self.json is None else {"content-type": "application/json"}
        authorization = {} if key is None else {"authorization": f"Bearer {key}"}
        headers = {**authorization, **own, **self.headers}
        # The service reads header values as UTF-8.
        return [(name.encode(), value.encode()) for name, value in headers.items()]

    def parameters(self) -> Optional[httpx.QueryParams]:
        given = {name: value for name, value in self.query.items() if value is not None}
        return httpx.QueryParams(given) if given else None


def service_of(url: str) -> str:
    """The address of the service. Also accepts that of the API itself."""
    if not re.match(r"https?://[^/]", url):
        raise ValueError(f"The address {url} is not http or https.")
    return re.sub(r"/+\Z|(?:/+api/v1)?/*\Z", "", url, count=1)


def segment(text: str) -> str:
    """Encodes one segment of a path."""
    return quote(text, safe="")


def encoded_path(path: str) -> str:
    """The slashes of a path stay slashes. Raises an error if it would lead to another route."""
    if any(part in (".", "..") for part in path.split("/")):
        raise ValueError(f'The path {path} must not contain the segments "." and "..".')
    return quote(path, safe="/")


def data_in(response: httpx.Response) -> Any:
    """The `data` of a successful response."""
    try:
        return json.loads(response.content)["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise ConnectionFailed(f"{response.url} did not answer as the service does.") from error


def next_cursor(link: Optional[str]) -> Optional[str]:
    match = re.search(r'<([^>]*)>\s*;\s*rel="?next"?', link or "")
    cursors = parse_qs(urlsplit(match[1]).query).get("cursor", []) if match else []
    return cursors[0] if cursors else None


def camel_case(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request from options in snake case. Their values are left alone."""
    return {
        re.sub(r"_([a-z])", lambda match: match[1].upper(), name): value
        for name, value in options.items()
    }


def without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
