"""The client of Flowrun, synchronous (`Flowrun`) and asynchronous (`AsyncFlowrun`)."""

from ._async.flow_files import AsyncFlowFiles
from ._async.flowrun import AsyncFlowrun
from ._async.run import AsyncRun
from ._async.run_files import AsyncRunChanges, AsyncRunFiles
from ._async.session import AsyncSession
from ._async.turn import AsyncPendingTurn
from ._generated.events import (
    ChatOutputEvent,
    FinishedEvent,
    InteractionEvent,
    OutputEvent,
    RunEvent,
    TurnEndEvent,
    UnknownEvent,
)
from ._generated.models import (
    FileChange,
    FileEntry,
    Flow,
    LogEntry,
    QueuedMessage,
    RunDetails,
    RunFinished,
    RunRecord,
    RunToken,
    SessionDetails,
    SessionEnded,
    Turn,
    UnfinishedMessage,
)
from ._generated.options import ConfigChanges, RunOptions, SessionOptions
from ._generated.webhooks import WebhookEvent
from ._sync.flow_files import FlowFiles
from ._sync.flowrun import Flowrun
from ._sync.run import Run
from ._sync.run_files import RunChanges, RunFiles
from ._sync.session import Session
from ._sync.turn import PendingTurn
from .errors import (
    BudgetReached,
    ConcurrentLimit,
    ConnectionFailed,
    EndpointRetired,
    FilesNotKept,
    FlowrunError,
    InternalError,
    MessageNotQueued,
    MethodNotAllowed,
    MonthlyQuota,
    NotFound,
    PayloadTooLarge,
    PreconditionFailed,
    ProjectArchived,
    QueueFull,
    RangeNotSatisfiable,
    RateLimited,
    RunnerOffline,
    RunTreeLimit,
    SessionLimit,
    StreamLimit,
    Unauthorized,
    UpstreamUnavailable,
    ValidationError,
    WaitLimit,
)
from .input_files import FileContent
from .result import RunFailed, RunResult
from .retry_delay import Retry
from .verify_webhook import WebhookRejected, verify_webhook

__all__ = [
    "AsyncFlowFiles",
    "AsyncFlowrun",
    "AsyncPendingTurn",
    "AsyncRun",
    "AsyncRunChanges",
    "AsyncRunFiles",
    "AsyncSession",
    "BudgetReached",
    "ChatOutputEvent",
    "ConcurrentLimit",
    "ConfigChanges",
    "ConnectionFailed",
    "EndpointRetired",
    "FileChange",
    "FileContent",
    "FileEntry",
    "FilesNotKept",
    "FinishedEvent",
    "Flow",
    "FlowFiles",
    "Flowrun",
    "FlowrunError",
    "InteractionEvent",
    "InternalError",
    "LogEntry",
    "MessageNotQueued",
    "MethodNotAllowed",
    "MonthlyQuota",
    "NotFound",
    "OutputEvent",
    "PayloadTooLarge",
    "PendingTurn",
    "PreconditionFailed",
    "ProjectArchived",
    "QueueFull",
    "QueuedMessage",
    "RangeNotSatisfiable",
    "RateLimited",
    "Retry",
    "Run",
    "RunChanges",
    "RunDetails",
    "RunEvent",
    "RunFailed",
    "RunFiles",
    "RunFinished",
    "RunOptions",
    "RunRecord",
    "RunResult",
    "RunToken",
    "RunTreeLimit",
    "RunnerOffline",
    "Session",
    "SessionDetails",
    "SessionEnded",
    "SessionLimit",
    "SessionOptions",
    "StreamLimit",
    "Turn",
    "TurnEndEvent",
    "Unauthorized",
    "UnfinishedMessage",
    "UnknownEvent",
    "UpstreamUnavailable",
    "ValidationError",
    "WaitLimit",
    "WebhookEvent",
    "WebhookRejected",
    "verify_webhook",
]
