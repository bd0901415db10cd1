"""The result of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

import pydantic

from ._generated.models import RunDetails, Usage
from .errors import FlowrunError

T = TypeVar("T")


@dataclass(frozen=True)
class RunResult(Generic[T]):
    text: str
    """The agent's last answer."""
    structured: T
    """The answer to `output` or `output_schema`; None without one."""
    cost_usd: Optional[float]
    usage: Usage
    run: RunDetails


class RunFailed(FlowrunError):
    """The run has ended, and not cleanly."""

    def __init__(self, run: RunDetails, error: str) -> None:
        super().__init__(f"The run {run.run_id} has ended: {error}", code="RUN_FAILED")
        self.cause = _cause_of(error)
        """The `error` of the run, without details."""
        self.run = run


def _cause_of(error: str) -> str:
    """`Process exited with code 1` and `container_start_failed: no capacity` have details."""
    return "exit_code" if error.startswith("Process exited") else error.partition(":")[0]


def result_of(run: RunDetails, output: Optional[type[pydantic.BaseModel]]) -> RunResult[Any]:
    """Raises `RunFailed` if the run did not complete cleanly."""
    if run.error is not None:
        raise RunFailed(run, run.error)
    structured = run.structured_output
    if output is not None:
        structured = output.model_validate(structured)
    return RunResult(run.result or "", structured, run.cost_usd, run.usage, run)
