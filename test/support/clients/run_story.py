"""
Runs the steps of a story with the Python client. Prints one line of JSON for each observation.
`client-story.ts` also makes a synchronous program of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

from pydantic import BaseModel

from flowrun import (
    AsyncFlowrun,
    AsyncRun,
    FileContent,
    FlowrunError,
    InteractionEvent,
    UnknownEvent,
)

Step = dict[str, Any]


class AsyncStory:
    def __init__(self, flowrun: AsyncFlowrun) -> None:
        self._flowrun = flowrun
        self._run: Optional[AsyncRun[Any]] = None

    @property
    def run(self) -> AsyncRun[Any]:
        assert self._run is not None
        return self._run

    async def start(self, step: Step) -> dict[str, Any]:
        files = [FileContent(file["path"], file["content"]) for file in step["files"]]
        self._run = await self._flowrun.run(
            step["flow"],
            prompt=step["prompt"],
            name=step["name"],
            labels=step["labels"],
            files=files,
        )
        return {"runId": self.run.run_id}

    async def follow(self, step: Step) -> None:
        async for event in self.run.events():
            name = event.name if isinstance(event, UnknownEvent) else event.type
            observe("event", {"event": name, "seq": event.seq, "data": plain(event.data)})
            if isinstance(event, InteractionEvent):
                await self.run.answer(event, step["answers"])

    async def result(self, step: Step) -> dict[str, Any]:
        result = await self.run.result()
        return {
            "text": result.text,
            "costUsd": result.cost_usd,
            "structured": result.structured,
        }

    async def log(self, step: Step) -> None:
        async for entry in self.run.log():
            observe("entry", {"event": entry.event, "seq": entry.seq, "data": entry.data})

    async def files(self, step: Step) -> dict[str, Any]:
        paths = [file.path async for file in self.run.files.list()]
        with tempfile.TemporaryDirectory() as folder:
            pulled = await self.run.files.pull(folder)
            assert sorted(pulled) == sorted(paths)
            note = Path(folder, "in/note.txt").read_text()
        assert await self.run.files.read_text("in/note.txt") == note
        return {"paths": sorted(paths), "note": note}

    async def changes(self, step: Step) -> dict[str, Any]:
        assert "+new\n" in await self.run.changes.patch()
        changes = [f"{change.status} {change.path}" async for change in self.run.changes.list()]
        return {"changes": sorted(changes)}

    async def find(self, step: Step) -> dict[str, Any]:
        runs = self._flowrun.runs(labels=step["labels"], flow="writer", page_size=1)
        return {"runIds": [run.run_id async for run in runs]}

    async def session(self, step: Step) -> dict[str, Any]:
        session = await self._flowrun.session(step["flow"], env=step["env"])
        turns = [await session.send(prompt) for prompt in step["prompts"]]
        texts: list[str] = []
        for turn in turns:
            parts = [text async for text in turn]
            texts.append("".join(parts))
        results = [(await turn.result()).text for turn in turns]
        await session.end()
        return {"texts": texts, "results": results}

    async def fail(self, step: Step) -> dict[str, Any]:
        try:
            await self._flowrun.run(step["flow"])
        except FlowrunError as error:
            return {"code": error.code, "error": type(error).__name__}
        return {}

    async def stop(self, step: Step) -> dict[str, Any]:
        run = await self._flowrun.run(step["flow"], prompt=step["prompt"])
        await run.stop(grace_seconds=0)
        try:
            await run.result()
        except FlowrunError as error:
            cause = getattr(error, "cause", None)
            return {"code": error.code, "error": type(error).__name__, "cause": cause}
        return {}


def plain(data: Any) -> Any:
    if isinstance(data, BaseModel):
        return data.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return [plain(item) for item in data] if isinstance(data, list) else data


def observe(kind: str, observation: Any) -> None:
    print(json.dumps({"kind": kind, "observation": observation}), flush=True)


async def main() -> None:
    steps = json.loads(Path(sys.argv[1]).read_text())
    retries = 0

    def on_retry(_: object) -> None:
        nonlocal retries
        retries += 1

    async with AsyncFlowrun(on_retry=on_retry) as flowrun:
        story = AsyncStory(flowrun)
        for step in steps:
            observed = await getattr(story, step["do"])(step)
            observe(step["do"], observed)
    observe("retries", retries)


asyncio.run(main())
