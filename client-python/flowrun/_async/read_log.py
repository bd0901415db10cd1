"""The stored events of a run."""

from __future__ import annotations

from typing import AsyncIterator, Optional

from .._generated.models import LogEntries, LogEntry
from ..http_request import HttpRequest
from .http import AsyncHttp


async def read_log(
    http: AsyncHttp,
    run_id: str,
    *,
    channel: str = "all",
    after: int = 0,
    before: Optional[int] = None,
) -> AsyncIterator[LogEntry]:
    """Yields the stored frames of a run, oldest first, to the last one that is stored now."""
    while True:
        query = {
            "format": "structured",
            "channel": channel,
            "afterSeq": after,
            "beforeSeq": before,
        }
        data = await http.data(HttpRequest(f"/runs/{run_id}/logs", query=query))
        page = LogEntries.model_validate(data)
        for entry in page.entries:
            yield entry
        if page.complete or not page.entries:
            return
        after = page.entries[-1].seq


async def read_last_seq(http: AsyncHttp, run_id: str) -> int:
    """The turn of a message that is sent now begins after this frame."""
    query = {"format": "structured", "channel": "all", "order": "desc", "limit": 1}
    data = await http.data(HttpRequest(f"/runs/{run_id}/logs", query=query))
    entries = LogEntries.model_validate(data).entries
    return entries[0].seq if entries else 0
