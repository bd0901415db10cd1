interface RunChanges {
    /** The files that differ from the original files of the run. */
    list(options?: {
        prefix?: string;
    }): AsyncGenerator<FileChange, void, undefined>;
    /** The same as a patch for `git apply`. */
    patch(options?: {
        prefix?: string;
    }): Promise<string>;
}
declare function runChanges(http: Http, runId: string): RunChanges;
/** A file to send. Text is sent as UTF-8. */
interface FileContent {
    /** Relative to the working directory, with slashes. */
    path: string;
    content: string | Uint8Array;
    mode?: '0644' | '0755';
}
declare function toInputFile({ content, ...file }: FileContent): InputFile;
/** Writes the files of an archive below a folder, and returns their paths. */
declare function pullArchive(archive: ReadableStream<Uint8Array<ArrayBuffer>>, folder: string): Promise<string[]>;
interface TarEntry {
    path: string;
    /** Permission bits. */
    mode: number;
    content: Uint8Array<ArrayBuffer>;
}
type Bytes = Uint8Array<ArrayBuffer>;
/** Yields one file at a time. Throws if the archive ends early. */
declare function readTarEntries(archive: ReadableStream<Bytes>): AsyncGenerator<TarEntry, void, undefined>;
interface FileFilter {
    /** Only paths that begin with this prefix. */
    prefix?: string;
    /** `flow`: files of the flow. `run`: all others. */
    scope?: 'flow' | 'run';
}
interface ArchiveFormat {
    isCompressed?: boolean;
}
interface RunFiles {
    list(filter?: FileFilter): AsyncGenerator<FileEntry, void, undefined>;
    read(path: string): Promise<Uint8Array<ArrayBuffer>>;
    readText(path: string): Promise<string>;
    /** Adds files, or replaces those with the same path. */
    add(files: readonly FileContent[]): Promise<FileEntry[]>;
    /** The files as a tar archive. A stream that fails is incomplete. */
    archive(options?: FileFilter & ArchiveFormat): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
    /** Adds the files of a tar archive. */
    addArchive(archive: Uint8Array<ArrayBuffer> | Blob, format?: ArchiveFormat): Promise<FileEntry[]>;
    /** Writes the files to a folder, and returns their paths. It needs Node, Bun or Deno. */
    pull(folder: string, filter?: FileFilter): Promise<string[]>;
}
declare function runFiles(http: Http, runId: string): RunFiles;
interface FlowrunOptions {
    /** The address of the service. The default is the environment variable FLOWRUN_URL. */
    url?: string;
    /** An API key, or a run token in a web page. The default is the variable FLOWRUN_KEY. */
    key?: string;
    fetch?: typeof fetch;
    /** Aborts all calls. */
    signal?: AbortSignal;
    /** Called before the wait for another attempt. */
    onRetry?: (retry: Retry) => void;
}
interface RunFilter {
    flow?: string;
    status?: RunRecord['status'];
    agentStatus?: NonNullable<RunRecord['agentStatus']>;
    triggerType?: RunRecord['triggerType'];
    sessionId?: string;
    /** Runs that have all of these labels. */
    labels?: Record<string, string>;
    createdAfter?: string;
    createdBefore?: string;
}
declare class Flowrun {
    #private;
    constructor(options?: FlowrunOptions);
    /** Starts a run of a flow, given by name or ID. */
    run<T = unknown>(flow: string, options?: RunOptions<T>): PendingRun<T>;
    /** Opens a session of a flow, or continues the one with this ID. */
    session(flow: string, options?: SessionOptions): Promise<Session>;
    getRun(runId: string): Promise<Run>;
    /** Yields the matching runs, newest first. */
    runs({ flow, labels, ...filter }?: RunFilter): AsyncGenerator<Run, void, undefined>;
    flows(): AsyncGenerator<Flow, void, undefined>;
}
interface AgentContentBlock {
    /** `text`, `thinking`, `tool_use`, `tool_result`, … */
    type: string;
    text?: string;
    thinking?: string;
    /** Of a `tool_use`. */
    id?: string;
    /** The tool of a `tool_use`. */
    name?: string;
    /** The input of a `tool_use`. */
    input?: Record<string, unknown>;
    /** The call of a `tool_result`. */
    tool_use_id?: string;
    /** The text or the blocks of a `tool_result`. */
    content?: unknown;
    /** Whether a tool failed. */
    is_error?: boolean;
    [field: string]: unknown;
}
interface ChangeConfigBody {
    /** Merged by name. Null removes a variable. */
    env?: Record<string, string | null> | null;
    /** Merged by name. For an existing server, `headers` may be sent alone. Null removes a server. */
    mcpServers?: Record<string, Record<string, unknown> | null> | null;
    mcpMode?: "merge" | "replace" | null;
    appendSystemPrompt?: string | null;
    disallowedTools?: string[] | null;
}
interface ChangedConfig {
    sessionId: string;
    effective: "now" | "next_turn";
    env: string[];
    mcpServers: string[];
    disallowedTools: string[];
    appendSystemPrompt: boolean;
}
interface ChatBody {
    message: string;
    /** Default: a new session. */
    sessionId?: string;
    /** true (default): the response is 202 at once. false: the response waits for the end of the turn, at most 300 s, and is 202 after that. */
    stream?: boolean;
    /** Deduplicates retries of the message within its session. Same as the Idempotency-Key header. */
    clientMessageId?: string;
    /** At most 100 files, 10485760 bytes each and 26214400 in total. A path matched by `.flowignore` is stored for this run only; any other becomes a file of the flow. A key with the scope `chat` and without `run` cannot add files of the flow. */
    files?: InputFile[];
}
interface DeletedRun {
    runId: string;
    flowId: string;
    projectId: string;
    labels: Record<string, string>;
    createdAt: string;
    status: "running" | "sleep";
    deleted: true;
}
interface EventData {
    status: {
        status: "running" | "sleep";
        agentStatus: "working" | "idle" | "waiting" | "error" | null;
    };
    agent_status: {
        status: "working" | "idle" | "waiting" | "error";
    };
    filetree: FileTreeNode[];
    files_skipped: {
        skippedCount: number;
        /** The first entries that were not stored, and why. */
        skipped: {
            path: string;
            reason: string;
        }[];
    };
    output: {
        data: string;
    };
    session_ready: {
        sessionId: string;
    };
    state_rolled_back: {
        messageId: string | null;
    };
    user_message: {
        messageId: string;
        text: string;
        /** Replace the events of the earlier attempt with the same `messageId`. */
        attempt?: number;
    };
    message_withdrawn: {
        messageId: string;
    };
    chat_output: {
        text: string;
    };
    interaction: {
        interactionId: string;
        toolName: string;
        questions: {
            question: string;
            [field: string]: unknown;
        }[];
    };
    interaction_closed: {
        interactionId: string;
        outcome: "answered" | "withdrawn";
    };
    turn_end: {
        exitCode: 0 | 1;
        sessionId: string;
        messageId: string;
        error?: string;
    };
    replay_truncated: {
        instanceId: string;
        firstAvailableSeq: number;
    };
    finished: {
        sessionId: string;
        reason: "completed" | "stopped" | "deleted" | "no_upstream" | "error" | "already_ended";
        exitCode?: number;
    };
    system: {
        type: "system";
        subtype: string;
        /** The agent’s own ID of the conversation. */
        session_id?: string;
        model?: string;
        cwd?: string;
        tools?: string[];
        mcp_servers?: {
            name: string;
            status: string;
            [field: string]: unknown;
        }[];
        [field: string]: unknown;
    };
    assistant: {
        type: "assistant";
        message: {
            content: AgentContentBlock[];
            model?: string;
            usage?: Record<string, unknown>;
            [field: string]: unknown;
        };
        /** The `Task` call of the subagent that this event belongs to. */
        parent_tool_use_id?: string | null;
        /** The agent’s own ID of the conversation. */
        session_id?: string;
        [field: string]: unknown;
    };
    user: {
        type: "user";
        message: {
            content: string | AgentContentBlock[];
            model?: string;
            usage?: Record<string, unknown>;
            [field: string]: unknown;
        };
        /** The `Task` call of the subagent that this event belongs to. */
        parent_tool_use_id?: string | null;
        /** The agent’s own ID of the conversation. */
        session_id?: string;
        [field: string]: unknown;
    };
    result: {
        type: "result";
        /** `success`, `error_max_turns`, … */
        subtype?: string;
        is_error: boolean;
        /** Absent if the turn had no answer. */
        result?: string;
        structured_output?: unknown;
        total_cost_usd: number;
        usage: Record<string, unknown>;
        num_turns?: number;
        duration_ms?: number;
        /** The agent’s own ID of the conversation. */
        session_id?: string;
        [field: string]: unknown;
    };
    stream: {
        [field: string]: unknown;
    };
    stream_event: {
        type: "stream_event";
        event: {
            /** `content_block_delta`, `message_start`, … */
            type: string;
            index?: number;
            delta?: {
                /** `text_delta`, `thinking_delta`, … */
                type?: string;
                text?: string;
                thinking?: string;
                [field: string]: unknown;
            };
            [field: string]: unknown;
        };
        /** The `Task` call of the subagent that this event belongs to. */
        parent_tool_use_id?: string | null;
        /** The agent’s own ID of the conversation. */
        session_id?: string;
        [field: string]: unknown;
    };
    line_cut: {
        type: "line_cut";
        bytes: number;
        head: string;
        [field: string]: unknown;
    };
}
interface FileChange {
    path: string;
    status: "added" | "modified" | "deleted";
    /** Null if the file was added. */
    before: {
        size: number;
        sha256: string;
        mode: "0644" | "0755";
    } | null;
    /** Null if the file was deleted. */
    after: {
        size: number;
        sha256: string;
        mode: "0644" | "0755";
    } | null;
}
interface FileEntry {
    path: string;
    name: string;
    type: "file";
    size: number;
    sha256: string;
    scope: "flow" | "run";
    modifiedAt: string;
}
interface FileTreeNode {
    name: string;
    path: string;
    type: "file" | "directory";
    children?: FileTreeNode[];
}
interface Flow {
    flowId: string;
    projectId: string;
    name: string;
    description: string | null;
    prompt: string | null;
    instructions: string | null;
    model: string | null;
    /** Further models that the agent may call, besides the model of the run and the small model that the agent uses for auxiliary tasks. */
    allowedModels: string[];
    mcpServerNames: string[];
    envNames: string[];
    disallowedTools: string[];
    runner: string | null;
    image: string | null;
    resources: {
        memoryBytes: number;
        cpus: number;
    };
    network: {
        policy: "limited" | "open" | "none";
        allowedHosts: string[];
    };
    timeoutSeconds: number | null;
    schedule: {
        cron: string;
        timezone: string;
    } | null;
    /** When the schedule was paused. Null: it is not paused. */
    schedulePausedAt: string | null;
    limits: {
        maxTurns: number | null;
        maxBudgetUsd: number | null;
    };
    storage: {
        usedBytes: number;
        limitBytes: number;
    };
    version: number;
    /** When the flow was archived. Null: it is not archived. */
    archivedAt: string | null;
    createdAt: string;
    updatedAt: string;
}
interface InputFile {
    /** Relative path with slashes, at most 512 bytes. */
    path: string;
    content: string;
    encoding: "utf8" | "base64";
    mode?: "0644" | "0755";
}
interface LogEntries {
    runId: string;
    format: "structured";
    channel: "output" | "chat" | "all";
    entries: {
        seq: number;
        timestamp: string;
        event: string;
        /** Any JSON value. */
        data: unknown;
    }[];
    nextSeq: number | null;
    complete: boolean;
}
interface OpenSessionBody {
    /** Resumes the conversation with this ID if it exists. Default: a new conversation with a generated ID. */
    sessionId?: string;
    /** HTTPS URL that receives the signed webhooks `session.idle`, `interaction.asked` and `session.ended`. */
    callbackUrl?: string;
    name?: string;
    /** Stored with the run and returned unchanged. Never interpreted. */
    labels?: Record<string, string>;
    /** Also streams token deltas: `stream_event` with a `content_block_delta` of type `text_delta` or `thinking_delta`. Deltas have no ID and are not stored; the complete `assistant` event follows. Default: false. */
    partialMessages?: boolean;
    /** MCP servers for this run only, over `http` or `sse`. TLS is required except for localhost, which is the sandbox. `${NAME}` in a URL or a header value is replaced with the variable of `env`. A server name has no two consecutive underscores. Write-only. At most 65536 bytes of JSON. */
    mcpServers?: Record<string, {
        type: "http" | "sse";
        url: string;
        headers?: Record<string, string>;
    }>;
    /** `merge` (default): these servers are added to the flow's, and replace those with the same name. `replace`: only these are used. */
    mcpMode?: "merge" | "replace";
    /** Appended to the flow's instructions. Write-only. */
    appendSystemPrompt?: string;
    /** Tools withheld from the agent, such as `Bash`, `mcp__server__tool` or `Bash(git:*)`. */
    disallowedTools?: string[];
    /** Environment variables of the agent, its tools and its MCP servers. Write-only. At most 32768 bytes of UTF-8 per value, and 262144 for all names and values. The sandbox's own variables (proxies, `TMPDIR`) are not overridden. */
    env?: Record<string, string>;
}
interface OpenedSession {
    sessionId: string;
    runId: string;
    streamUrl: string;
}
interface PendingInteraction {
    interactionId: string;
    toolName: string;
    /** The questions as the agent asks them, with `question`, `header`, `options` and `multiSelect`. */
    questions: Record<string, unknown>[];
    askedAt: string;
}
interface QueuedMessage {
    sessionId: string;
    runId: string;
    messageId: string;
    streamUrl: string;
    /** Number of messages before it in the queue. */
    position: number;
}
interface RetryRunBody {
    /** The initial message, at most 1048576 bytes of UTF-8. Default: the flow's prompt. */
    prompt?: string;
    /** Deduplicates retries within the project for 24 hours. */
    idempotencyKey?: string;
    /** HTTPS URL that receives the signed webhook. */
    callbackUrl?: string;
    name?: string;
    /** Stored with the run and returned unchanged. Never interpreted. */
    labels?: Record<string, string>;
    /** At most 100 files, 10485760 bytes each and 26214400 in total. A path matched by `.flowignore` is stored for this run only; any other becomes a file of the flow. A key with the scope `chat` and without `run` cannot add files of the flow. */
    files?: InputFile[];
    /** Also streams token deltas: `stream_event` with a `content_block_delta` of type `text_delta` or `thinking_delta`. Deltas have no ID and are not stored; the complete `assistant` event follows. Default: false. */
    partialMessages?: boolean;
    /** MCP servers for this run only, over `http` or `sse`. TLS is required except for localhost, which is the sandbox. `${NAME}` in a URL or a header value is replaced with the variable of `env`. A server name has no two consecutive underscores. Write-only. At most 65536 bytes of JSON. */
    mcpServers?: Record<string, {
        type: "http" | "sse";
        url: string;
        headers?: Record<string, string>;
    }>;
    /** `merge` (default): these servers are added to the flow's, and replace those with the same name. `replace`: only these are used. */
    mcpMode?: "merge" | "replace";
    /** Appended to the flow's instructions. Write-only. */
    appendSystemPrompt?: string;
    /** Tools withheld from the agent, such as `Bash`, `mcp__server__tool` or `Bash(git:*)`. */
    disallowedTools?: string[];
    /** Environment variables of the agent, its tools and its MCP servers. Write-only. At most 32768 bytes of UTF-8 per value, and 262144 for all names and values. The sandbox's own variables (proxies, `TMPDIR`) are not overridden. */
    env?: Record<string, string>;
    /** Maximum duration after the start. The run then ends with `timed_out`. */
    timeoutSeconds?: number;
    /** Maximum number of rounds of the agent. The run then ends with `max_turns_exceeded`, at the latest after 20 × `maxTurns` + 50 model calls. */
    maxTurns?: number;
    /** Maximum cost of the model calls, as measured by the service. A model call that could exceed it is not made, and the run ends with `budget_exceeded`. Rejected if the price of the model is unknown. */
    maxBudgetUsd?: number;
    /** JSON Schema of an object, at most 65536 bytes. The agent's answer is returned as `structuredOutput`. */
    outputSchema?: Record<string, unknown>;
    /** Default: the flow's model. */
    model?: string;
}
interface RunDetails {
    runId: string;
    flowId: string;
    projectId: string;
    name: string | null;
    labels: Record<string, string>;
    status: "running" | "sleep";
    agentStatus: "working" | "idle" | "waiting" | "error" | null;
    triggerType: "api" | "dashboard" | "schedule";
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    sessionId: string | null;
    streamUrl: string;
    exitCode: number | null;
    result: string | null;
    /** Any JSON value. */
    structuredOutput: unknown;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
    numTurns: number;
    createdBy: {
        keyName: string;
        createdBy: string;
    };
    webhook: {
        state: "none" | "waiting" | "pending" | "delivered" | "dropped";
        attempts: number;
        lastStatus: number | null;
    };
    mcpServerNames: string[];
    /** The run that this one retries. */
    retryOf: string | null;
    /** Absent on clean completion. Otherwise `Process exited with code N`, `container_start_failed: …`, or one of `stopped_by_api`, `deleted_by_api`, `interrupted_by_api`, `terminated_by_operator`, `max_reconnects_exceeded`, `out_of_memory`, `timed_out`, `stalled`, `hung_after_result`, `no_result`, `budget_exceeded`, `max_turns_exceeded`, `disk_full`, `output_tampered`, `lost_in_restore`. More names may be added. */
    error?: string;
    /** An end was requested, and the run has not ended yet. */
    stopping?: true;
    /** The offline model has answered the agent, so its text is made up. */
    offlineModel?: true;
    prompt: string;
    /** Unanswered questions of the agent. */
    interactions: PendingInteraction[];
    /** State of the last snapshot of the working directory. `partial`: some entries were not stored. `failed`: the run has ended and its files could not be stored; its host retries until the retention time has passed. Null if there is no snapshot. */
    files: {
        state: "stored" | "partial" | "failed";
        skippedCount: number;
        /** The first entries that were not stored, and why. */
        skipped: {
            path: string;
            reason: string;
        }[];
    } | null;
}
interface RunFinished {
    runId: string;
    flowId: string;
    projectId: string;
    status: "sleep";
    agentStatus: string;
    triggerType: string;
    startedAt: string;
    finishedAt: string;
    /** Absent on clean completion. Otherwise `Process exited with code N`, `container_start_failed: …`, or one of `stopped_by_api`, `deleted_by_api`, `interrupted_by_api`, `terminated_by_operator`, `max_reconnects_exceeded`, `out_of_memory`, `timed_out`, `stalled`, `hung_after_result`, `no_result`, `budget_exceeded`, `max_turns_exceeded`, `disk_full`, `output_tampered`, `lost_in_restore`. More names may be added. */
    error?: string;
    exitCode: number | null;
    result: string | null;
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    labels: Record<string, string>;
    /** State of the last snapshot of the working directory. `partial`: some entries were not stored. `failed`: the run has ended and its files could not be stored; its host retries until the retention time has passed. Null if there is no snapshot. */
    files: {
        state: "stored" | "partial" | "failed";
        skippedCount: number;
        /** The first entries that were not stored, and why. */
        skipped: {
            path: string;
            reason: string;
        }[];
    } | null;
    /** The offline model has answered the agent, so its text is made up. */
    offlineModel?: true;
}
interface RunRecord {
    runId: string;
    flowId: string;
    projectId: string;
    name: string | null;
    labels: Record<string, string>;
    status: "running" | "sleep";
    agentStatus: "working" | "idle" | "waiting" | "error" | null;
    triggerType: "api" | "dashboard" | "schedule";
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    sessionId: string | null;
    streamUrl: string;
    exitCode: number | null;
    result: string | null;
    /** Any JSON value. */
    structuredOutput: unknown;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
    numTurns: number;
    createdBy: {
        keyName: string;
        createdBy: string;
    };
    webhook: {
        state: "none" | "waiting" | "pending" | "delivered" | "dropped";
        attempts: number;
        lastStatus: number | null;
    };
    mcpServerNames: string[];
    /** The run that this one retries. */
    retryOf: string | null;
    /** Absent on clean completion. Otherwise `Process exited with code N`, `container_start_failed: …`, or one of `stopped_by_api`, `deleted_by_api`, `interrupted_by_api`, `terminated_by_operator`, `max_reconnects_exceeded`, `out_of_memory`, `timed_out`, `stalled`, `hung_after_result`, `no_result`, `budget_exceeded`, `max_turns_exceeded`, `disk_full`, `output_tampered`, `lost_in_restore`. More names may be added. */
    error?: string;
    /** An end was requested, and the run has not ended yet. */
    stopping?: true;
    /** The offline model has answered the agent, so its text is made up. */
    offlineModel?: true;
}
interface RunToken {
    /** The token. It is not shown again. */
    token: string;
    runId: string;
    expiresAt: string;
}
interface SessionDetails {
    runId: string;
    flowId: string;
    projectId: string;
    name: string | null;
    labels: Record<string, string>;
    status: "running" | "sleep";
    agentStatus: "working" | "idle" | "waiting" | "error" | null;
    triggerType: "api" | "dashboard" | "schedule";
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    sessionId: string | null;
    streamUrl: string;
    exitCode: number | null;
    result: string | null;
    /** Any JSON value. */
    structuredOutput: unknown;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
    numTurns: number;
    createdBy: {
        keyName: string;
        createdBy: string;
    };
    webhook: {
        state: "none" | "waiting" | "pending" | "delivered" | "dropped";
        attempts: number;
        lastStatus: number | null;
    };
    mcpServerNames: string[];
    /** The run that this one retries. */
    retryOf: string | null;
    /** Absent on clean completion. Otherwise `Process exited with code N`, `container_start_failed: …`, or one of `stopped_by_api`, `deleted_by_api`, `interrupted_by_api`, `terminated_by_operator`, `max_reconnects_exceeded`, `out_of_memory`, `timed_out`, `stalled`, `hung_after_result`, `no_result`, `budget_exceeded`, `max_turns_exceeded`, `disk_full`, `output_tampered`, `lost_in_restore`. More names may be added. */
    error?: string;
    /** An end was requested, and the run has not ended yet. */
    stopping?: true;
    /** The offline model has answered the agent, so its text is made up. */
    offlineModel?: true;
    /** Number of messages that were not delivered to the agent yet. */
    queued: number;
    lastMessageAt: string | null;
    /** State of the last snapshot of the working directory. `partial`: some entries were not stored. `failed`: the run has ended and its files could not be stored; its host retries until the retention time has passed. Null if there is no snapshot. */
    files: {
        state: "stored" | "partial" | "failed";
        skippedCount: number;
        /** The first entries that were not stored, and why. */
        skipped: {
            path: string;
            reason: string;
        }[];
    } | null;
}
interface SessionEnded {
    runId: string;
    flowId: string;
    projectId: string;
    status: "sleep";
    agentStatus: string;
    triggerType: string;
    startedAt: string;
    finishedAt: string;
    /** Absent on clean completion. Otherwise `Process exited with code N`, `container_start_failed: …`, or one of `stopped_by_api`, `deleted_by_api`, `interrupted_by_api`, `terminated_by_operator`, `max_reconnects_exceeded`, `out_of_memory`, `timed_out`, `stalled`, `hung_after_result`, `no_result`, `budget_exceeded`, `max_turns_exceeded`, `disk_full`, `output_tampered`, `lost_in_restore`. More names may be added. */
    error?: string;
    exitCode: number | null;
    result: string | null;
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    labels: Record<string, string>;
    /** State of the last snapshot of the working directory. `partial`: some entries were not stored. `failed`: the run has ended and its files could not be stored; its host retries until the retention time has passed. Null if there is no snapshot. */
    files: {
        state: "stored" | "partial" | "failed";
        skippedCount: number;
        /** The first entries that were not stored, and why. */
        skipped: {
            path: string;
            reason: string;
        }[];
    } | null;
    /** The offline model has answered the agent, so its text is made up. */
    offlineModel?: true;
    sessionId: string;
}
interface TriggerRunBody {
    /** The initial message, at most 1048576 bytes of UTF-8. Default: the flow's prompt. */
    prompt?: string;
    /** Deduplicates retries within the project for 24 hours. */
    idempotencyKey?: string;
    /** HTTPS URL that receives the signed webhook. */
    callbackUrl?: string;
    name?: string;
    /** Stored with the run and returned unchanged. Never interpreted. */
    labels?: Record<string, string>;
    /** At most 100 files, 10485760 bytes each and 26214400 in total. A path matched by `.flowignore` is stored for this run only; any other becomes a file of the flow. A key with the scope `chat` and without `run` cannot add files of the flow. */
    files?: InputFile[];
    /** Also streams token deltas: `stream_event` with a `content_block_delta` of type `text_delta` or `thinking_delta`. Deltas have no ID and are not stored; the complete `assistant` event follows. Default: false. */
    partialMessages?: boolean;
    /** MCP servers for this run only, over `http` or `sse`. TLS is required except for localhost, which is the sandbox. `${NAME}` in a URL or a header value is replaced with the variable of `env`. A server name has no two consecutive underscores. Write-only. At most 65536 bytes of JSON. */
    mcpServers?: Record<string, {
        type: "http" | "sse";
        url: string;
        headers?: Record<string, string>;
    }>;
    /** `merge` (default): these servers are added to the flow's, and replace those with the same name. `replace`: only these are used. */
    mcpMode?: "merge" | "replace";
    /** Appended to the flow's instructions. Write-only. */
    appendSystemPrompt?: string;
    /** Tools withheld from the agent, such as `Bash`, `mcp__server__tool` or `Bash(git:*)`. */
    disallowedTools?: string[];
    /** Environment variables of the agent, its tools and its MCP servers. Write-only. At most 32768 bytes of UTF-8 per value, and 262144 for all names and values. The sandbox's own variables (proxies, `TMPDIR`) are not overridden. */
    env?: Record<string, string>;
    /** Maximum duration after the start. The run then ends with `timed_out`. */
    timeoutSeconds?: number;
    /** Maximum number of rounds of the agent. The run then ends with `max_turns_exceeded`, at the latest after 20 × `maxTurns` + 50 model calls. */
    maxTurns?: number;
    /** Maximum cost of the model calls, as measured by the service. A model call that could exceed it is not made, and the run ends with `budget_exceeded`. Rejected if the price of the model is unknown. */
    maxBudgetUsd?: number;
    /** JSON Schema of an object, at most 65536 bytes. The agent's answer is returned as `structuredOutput`. */
    outputSchema?: Record<string, unknown>;
    /** Default: the flow's model. */
    model?: string;
}
interface Turn {
    sessionId: string;
    runId: string;
    messageId: string;
    text: string;
    exitCode: number;
    /** Why the turn failed: an error of the run, `no_capacity` or `files_refused`. `withdrawn`: the message was withdrawn and had no turn. Absent if the agent has ended the turn. */
    error?: string;
    usage: {
        inputTokens: number;
        outputTokens: number;
        cacheReadInputTokens: number;
        cacheCreationInputTokens: number;
    };
    /** Cost of the model calls, rounded to six decimals. Null before the first model call, or if the price of a called model is unknown. */
    costUsd: number | null;
}
interface UnfinishedMessage {
    messageId: string;
    /** Number of messages before it. */
    position: number;
    /** `in_progress`: an agent may have received it, so it cannot be withdrawn. */
    state: "queued" | "in_progress";
    text: string;
    createdAt: string;
}
interface ErrorFacts {
    code: string;
    message: string;
    /** The status of the response; null if the error is not a response. */
    status?: number | null;
    requestId?: string | null;
    retryAfterSeconds?: number | null;
    limit?: number;
    current?: number;
    cause?: unknown;
}
/** Every error of this package. `code` is stable, `message` can change. */
declare class FlowrunError extends Error {
    readonly code: string;
    readonly status: number | null;
    /** The service logs the request under this ID. */
    readonly requestId: string | null;
    readonly retryAfterSeconds: number | null;
    /** The limit that was reached, and the current value. */
    readonly limit: number | undefined;
    readonly current: number | undefined;
    constructor(facts: ErrorFacts);
}
declare class ValidationError extends FlowrunError {
}
/** 401: no valid key. 403: the resource belongs to another project, or the key has no scope. */
declare class Unauthorized extends FlowrunError {
}
declare class NotFound extends FlowrunError {
}
declare class MethodNotAllowed extends FlowrunError {
}
declare class RunnerOffline extends FlowrunError {
}
declare class MessageNotQueued extends FlowrunError {
}
declare class EndpointRetired extends FlowrunError {
}
declare class PreconditionFailed extends FlowrunError {
}
declare class PayloadTooLarge extends FlowrunError {
}
declare class RangeNotSatisfiable extends FlowrunError {
}
declare class RateLimited extends FlowrunError {
}
declare class ConcurrentLimit extends FlowrunError {
}
declare class MonthlyQuota extends FlowrunError {
}
declare class BudgetReached extends FlowrunError {
}
declare class SessionLimit extends FlowrunError {
}
declare class StreamLimit extends FlowrunError {
}
declare class WaitLimit extends FlowrunError {
}
declare class QueueFull extends FlowrunError {
}
declare class InternalError extends FlowrunError {
}
declare class UpstreamUnavailable extends FlowrunError {
}
/** The request may or may not have reached the service. */
declare class ConnectionFailed extends FlowrunError {
    constructor(message: string, cause?: unknown);
}
/** The classes of the service's codes. Other codes are a plain `FlowrunError`. */
declare const errorClasses: Record<string, typeof FlowrunError>;
/** Also true for an error of another copy of this package, for which `instanceof` is false. */
declare function isFlowrunError(error: unknown, code?: string): error is FlowrunError;
interface Retry {
    method: string;
    path: string;
    /** The number of the attempt that has failed, from 1. */
    attempt: number;
    delayMs: number;
    error: FlowrunError;
}
interface HttpOptions {
    /** The address of the service, without `/api/v1`. */
    url: string;
    key: string | undefined;
    fetch: typeof fetch;
    /** Aborts every request. */
    signal: AbortSignal | undefined;
    onRetry: ((retry: Retry) => void) | undefined;
}
type Query = Record<string, string | number | boolean | readonly string[] | undefined>;
interface HttpRequest {
    method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Relative to `/api/v1`. */
    path: string;
    query?: Query | undefined;
    /** Sent as JSON. */
    json?: unknown;
    /** Sent unchanged. */
    body?: Uint8Array<ArrayBuffer> | Blob;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
    /** A second request has no further effect. The default is true for all methods but `POST`. */
    isRepeatable?: boolean;
    attempts?: number;
    /** Limits the wait for the response, or for its head if the caller reads the body later. */
    timeoutMs?: number;
}
interface Http {
    /** Returns a successful response, whose body has not been read. */
    send(request: HttpRequest): Promise<Response>;
    /** Reads a successful response. A body that is cut off is requested again. */
    read<T>(request: HttpRequest, reading: Reading<T>): Promise<T>;
    /** Returns the `data` of a successful response. */
    data<T>(request: HttpRequest): Promise<T>;
    /** Yields the items of every page. */
    items<T>(request: HttpRequest): AsyncGenerator<T, void, undefined>;
}
declare function createHttp(options: HttpOptions): Http;
type Reading<T> = (response: Response) => Promise<T>;
/** The error of a response that is not a success. */
declare function responseError(response: Response): Promise<FlowrunError>;
interface Attempt {
    /** The number of the failed attempt, from 1. */
    attempt: number;
    error: FlowrunError;
    /** A second request has no further effect. */
    isRepeatable: boolean;
}
/** The time to wait before the next attempt, or null if there is none. */
declare function retryDelayMs({ attempt, error, isRepeatable }: Attempt): number | null;
/** Rejects with the reason of the signal if it aborts first. */
declare function wait(ms: number, signal?: AbortSignal): Promise<void>;
/** Finds the ID of a flow by its name, and remembers it: names may change, IDs do not. */
declare function createFlowNames(http: Http): (flow: string) => Promise<string>;
/** A validator that also describes itself as JSON Schema, such as a schema of zod 4. */
interface OutputSchema<T = unknown> {
    readonly '~standard': {
        validate(value: unknown): Validation<T> | Promise<Validation<T>>;
        readonly jsonSchema?: {
            output(options: {
                target: 'draft-2020-12';
            }): Record<string, unknown>;
        };
        readonly types?: {
            readonly output: T;
        } | undefined;
    };
}
type Validation<T> = {
    readonly value: T;
    readonly issues?: undefined;
} | {
    readonly issues: readonly {
        readonly message: string;
    }[];
};
declare function jsonSchemaOf(schema: OutputSchema): Record<string, unknown>;
declare function validateOutput<T>(schema: OutputSchema<T>, value: unknown): Promise<T>;
interface RunResult<T = unknown> {
    /** The agent's last answer. */
    text: string;
    /** The answer to `output` or `outputSchema`; null without one. */
    structured: T;
    costUsd: number | null;
    usage: RunDetails['usage'];
    run: RunDetails;
}
/** The run has ended, and not cleanly. `cause` is its `error`, without details. */
declare class RunFailed extends FlowrunError {
    readonly cause: string;
    readonly run: RunDetails;
    constructor(run: RunDetails, error: string);
}
declare function resultOf(run: RunDetails): RunResult;
interface CallOptions {
    signal?: AbortSignal | undefined;
}
/** Answers keyed by the text of the question; a list selects several options. */
type Answers = Record<string, string | string[]>;
interface Run<T = unknown> {
    readonly runId: string;
    /** The run as it was when this object was created. `read` returns its current state. */
    readonly record: RunRecord;
    readonly files: RunFiles;
    readonly changes: RunChanges;
    /**
     * Yields every event of the run from its beginning, each once, and ends after `finished`.
     * Reconnects until then.
     */
    events(options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
    /** Waits for the end of the run. Throws `RunFailed` if the run did not complete cleanly. */
    result(options?: CallOptions): Promise<RunResult<T>>;
    read(options?: CallOptions): Promise<RunDetails>;
    answer(interaction: {
        interactionId: string;
    } | {
        data: {
            interactionId: string;
        };
    }, answers: Answers): Promise<void>;
    /** Sets the given labels; null removes one. */
    setLabels(labels: Record<string, string | null>): Promise<RunRecord>;
    /** Asks the agent to end, and ends it after the time. */
    stop(options?: {
        graceSeconds?: number;
    }): Promise<RunRecord>;
    /** Ends a plain run, or the current turn of a session. It is not repeated if it fails. */
    interrupt(): Promise<RunRecord>;
    delete(): Promise<DeletedRun>;
    /** Creates a token for this run, which a web page can use instead of a key. */
    createToken(options?: {
        expiresInSeconds?: number;
    }): Promise<RunToken>;
}
declare function openRun<T = unknown>(http: Http, record: RunRecord, output?: OutputSchema<T>): Run<T>;
interface RunOptions<T = unknown> extends Omit<TriggerRunBody, 'files'> {
    files?: readonly FileContent[];
    /** A validator of the answer, such as a schema of zod. It also makes the `outputSchema`. */
    output?: OutputSchema<T>;
    /** Sent as `X-Ctx-*` headers. The agent gets them as `FLOW_CTX_*`. */
    context?: Record<string, string>;
    signal?: AbortSignal;
}
/** A promise of a run that has a shortcut to the run's result. */
interface PendingRun<T = unknown> extends Promise<Run<T>> {
    result(options?: {
        signal?: AbortSignal;
    }): Promise<RunResult<T>>;
}
/**
 * Starts a run with an idempotency key, so that the request can be repeated. A request with
 * `mcpServers` cannot have one and is not repeated after it was sent.
 */
declare function startRun<T>({ http, flowIdOf }: {
    http: Http;
    flowIdOf(flow: string): Promise<string>;
}, flow: string, { signal, output, context, ...options }: RunOptions<T>): PendingRun<T>;
interface SessionOptions extends Omit<OpenSessionBody, 'sessionId'> {
    /** An existing session with this ID is continued. The default is a new session. */
    id?: string;
    signal?: AbortSignal;
}
interface MessageOptions {
    files?: readonly FileContent[];
    /** Deduplicates the message within its session. The default is a random ID. */
    clientMessageId?: string;
    signal?: AbortSignal;
}
interface Session {
    readonly sessionId: string;
    readonly flowId: string;
    /** The run of the whole session: its events, files and questions. */
    readonly run: Run;
    /** Sends a message, which is one turn. Messages that are sent during a turn are queued. */
    send(message: string, options?: MessageOptions): PendingTurn;
    read(): Promise<SessionDetails>;
    /** Yields the message in progress and the queued ones. */
    messages(): AsyncGenerator<UnfinishedMessage, void, undefined>;
    /** Removes a queued message. */
    withdraw(messageId: string): Promise<void>;
    /** Changes the configuration from the next turn on; null removes a value. */
    configure(changes: ChangeConfigBody): Promise<ChangedConfig>;
    end(): Promise<void>;
}
/** Opens a session with an ID that the client chooses, so that the request can be repeated. */
declare function openSession(http: Http, flowId: string, { id, signal, ...options }: SessionOptions): Promise<Session>;
/**
 * Reads the new text of an answer from its events. With partial messages the text arrives as
 * deltas. Of the whole block that follows, only the missing rest is new.
 */
declare function createTextReader(): (event: RunEvent) => string[];
/** A message that was sent: an iterable of the answer's text, and a promise of the turn. */
interface PendingTurn extends AsyncIterable<string>, PromiseLike<Turn> {
    /** Resolves when the service has stored the message. */
    readonly queued: Promise<QueuedMessage>;
    /** Yields the events from the start of the turn to its end. */
    events(): AsyncGenerator<RunEvent, void, undefined>;
}
interface TurnRequest {
    /** Sends the message. Null: the turn has not ended yet. */
    send(options: {
        isWaiting: boolean;
    }): Promise<Turn | QueuedMessage>;
    /** The events after the message was sent. */
    follow(): AsyncGenerator<RunEvent, void, undefined>;
}
/** Sends the message immediately. Reading the turn sends it again with the same ID. */
declare function pendingTurn({ send, follow }: TurnRequest): PendingTurn;
interface Message {
    name: string;
    id: string | undefined;
    data: string;
}
interface ConnectionRequest {
    http: Http;
    runId: string;
    afterSeq: number;
    attempts: number;
    signal: AbortSignal | undefined;
    onOpen(): void;
    onRetryTime(ms: number): void;
}
/** Yields the messages of one connection, and throws if it breaks or falls silent. */
declare function readConnection(request: ConnectionRequest): AsyncGenerator<Message, void, undefined>;
/** An event that this version of the client does not know. */
interface UnknownEvent {
    type: 'unknown';
    name: string;
    seq: number | null;
    data: unknown;
}
/** `seq` is null for an event that is not stored, such as a token delta. */
type RunEvent = {
    [Type in keyof EventData]: {
        type: Type;
        seq: number | null;
        data: EventData[Type];
    };
}[keyof EventData] | UnknownEvent;
type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, {
    type: Type;
}>;
declare function toEvent(name: string, seq: number | null, data: unknown): RunEvent;
interface FollowOptions {
    /** Yields only what follows this frame. The default is 0, the beginning of the run. */
    after?: number;
    signal?: AbortSignal | undefined;
}
interface FollowRequest extends FollowOptions {
    http: Http;
    runId: string;
    /** Called before each further connection. True: nothing follows. */
    isOver?: () => Promise<boolean>;
}
declare function followRun(request: FollowRequest): AsyncGenerator<RunEvent, void, undefined>;
declare function applyAgentEvent(draft: Draft, { type, seq, data }: RunEvent): void;
/** A transcript that is being extended. The list is a copy; entries are replaced, not changed. */
interface Draft extends Omit<Transcript, 'entries'> {
    entries: Entry[];
}
type WithoutKey<One> = One extends Entry ? Omit<One, 'key' | 'seq'> : never;
type NewEntry = WithoutKey<Entry>;
interface Place {
    seq: number | null;
    /** The tool call whose subagent has made the entry. */
    parent?: string | null;
}
declare function addEntry(draft: Draft, { seq, parent }: Place, entry: NewEntry): void;
type Change = (entry: Entry) => Entry | null;
/** Replaces the last entry for which `change` returns one; null leaves an entry as it is. */
declare function updateEntry(draft: Draft, change: Change): void;
/** Closes everything that the agent was waiting for, because the turn has ended. */
declare function closeOpenEntries(draft: Draft): void;
interface EntryBase {
    /** Unique among the entries beside it. */
    key: string;
    /** The frame that the entry comes from. */
    seq: number | null;
}
/** A message to the agent: the prompt of a run, or a message of a session. */
interface MessageEntry extends EntryBase {
    kind: 'message';
    messageId: string | null;
    text: string;
    /** From 1; higher if the turn was run again. */
    attempt: number;
    /** Null until the turn of the message has ended. */
    end: {
        exitCode: number;
        error: string | null;
    } | null;
}
/** A block of the agent's answer. */
interface TextEntry extends EntryBase {
    kind: 'text';
    text: string;
    /** The text reports an error of the model API. */
    isError: boolean;
}
interface ThinkingEntry extends EntryBase {
    kind: 'thinking';
    text: string;
}
/** A call of a tool with its result, and the work of the subagent that it has started. */
interface ToolEntry extends EntryBase {
    kind: 'tool';
    toolUseId: string;
    name: string;
    input: Readonly<Record<string, unknown>>;
    /** `stopped`: the turn has ended without a result. */
    state: 'running' | 'done' | 'failed' | 'stopped';
    result: string | null;
    /** The changed parts of a file. */
    patch: readonly PatchHunk[];
    children: readonly Entry[];
}
interface PatchHunk {
    oldStart: number;
    newStart: number;
    /** Each begins with a space, a plus or a minus. */
    lines: readonly string[];
}
interface QuestionEntry extends EntryBase {
    kind: 'question';
    interactionId: string;
    toolName: string;
    questions: readonly Readonly<Record<string, unknown>>[];
    state: 'open' | 'answered' | 'withdrawn';
}
/** Something that happened besides the conversation. */
interface NoticeEntry extends EntryBase {
    kind: 'notice';
    notice: 'agent_error' | 'api_retry' | 'compacted' | 'files_skipped' | 'frames_missing' | 'interrupted' | 'state_rolled_back';
    text: string;
}
type Entry = MessageEntry | TextEntry | ThinkingEntry | ToolEntry | QuestionEntry | NoticeEntry;
/** The conversation of a run, and its state. */
interface Transcript {
    entries: readonly Entry[];
    /** The block that the agent is writing; only with partial messages. */
    typing: {
        readonly text: string;
        readonly thinking: string;
    };
    status: EventData['status']['status'] | null;
    agentStatus: EventData['status']['agentStatus'];
    fileTree: EventData['filetree'];
    model: string | null;
    /** The figures that the agent reports. The run's record has the measured ones. */
    reported: Reported;
    /** The part of `reported` that belongs to the last message of the model. */
    lastMessage: {
        readonly id: string;
        readonly inputTokens: number;
        readonly outputTokens: number;
    };
    finished: EventData['finished'] | null;
    lastSeq: number;
}
interface Reported {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number;
}
declare const emptyTranscript: Transcript;
/** Returns the transcript with further events. Many at once cost less than one by one. */
declare function extendTranscript(transcript: Transcript, ...events: RunEvent[]): Transcript;
interface Signature {
    timeSeconds: number;
    bytes: Uint8Array<ArrayBuffer>;
}
/** Node has no global name for this type. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
declare function parseSignature(header: string): Signature | null;
declare function importKey(secret: string): Promise<HmacKey>;
/** Compares in constant time. */
declare function isSigned({ timeSeconds, bytes }: Signature, key: HmacKey, body: Uint8Array): Promise<boolean>;
/** The request does not come from the service, or is too old. Answer it with 400. */
declare class WebhookRejected extends FlowrunError {
    constructor(reason: string);
}
type HeaderFields = Record<string, string | readonly string[] | undefined>;
/** A `Request`, or the parts of one. The body must not have been parsed. */
type WebhookRequest = Request | {
    headers: Headers | HeaderFields;
    rawBody: Uint8Array<ArrayBuffer> | string;
};
/** `deliveryId` is the same for all attempts of a delivery. */
type WebhookEvent = {
    type: 'run.finished';
    deliveryId: string;
    data: RunFinished;
} | {
    type: 'session.ended';
    deliveryId: string;
    data: SessionEnded;
}
/** An event that this version of the client does not know. */
 | {
    type: 'unknown';
    name: string;
    deliveryId: string;
    data: unknown;
};
interface VerifyOptions {
    /** The greatest difference between the time of the signature and now. The default is 300. */
    toleranceSeconds?: number;
    now?: Date;
}
/**
 * Returns the event of a request that the service has signed; otherwise throws `WebhookRejected`.
 * While the secret is rotated, pass both.
 */
declare function verifyWebhook(request: WebhookRequest, secret: string | readonly string[], { toleranceSeconds, now }?: VerifyOptions): Promise<WebhookEvent>;
/** An unvalidated JSON object. Read its members with the functions below. */
type JsonObject = Readonly<Record<string, unknown>>;
declare function isObject(value: unknown): value is JsonObject;
/** Null if the line is not a JSON object. */
declare function parseObject(line: string): JsonObject | null;
declare function objectIn(value: JsonObject, name: string): JsonObject;
declare function listIn(value: JsonObject, name: string): readonly unknown[];
declare function textIn(value: JsonObject, name: string): string | null;
/** Null if the value is nested too deeply to serialize. */
declare function jsonText(value: unknown): string | null;
export {
  type RunChanges,
  type FileContent,
  type RunFiles,
  Flowrun,
  type FlowrunOptions,
  type AgentContentBlock,
  type EventData,
  type FileChange,
  type FileEntry,
  type FileTreeNode,
  type Flow,
  type RunDetails,
  type RunFinished,
  type RunRecord,
  type RunToken,
  type SessionDetails,
  type SessionEnded,
  type Turn,
  type UnfinishedMessage,
  BudgetReached,
  ConcurrentLimit,
  ConnectionFailed,
  EndpointRetired,
  FlowrunError,
  InternalError,
  isFlowrunError,
  MessageNotQueued,
  MethodNotAllowed,
  MonthlyQuota,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  QueueFull,
  RangeNotSatisfiable,
  RateLimited,
  RunnerOffline,
  SessionLimit,
  StreamLimit,
  Unauthorized,
  UpstreamUnavailable,
  ValidationError,
  WaitLimit,
  type Retry,
  type OutputSchema,
  RunFailed,
  type RunResult,
  type Answers,
  type Run,
  type PendingRun,
  type RunOptions,
  type MessageOptions,
  type Session,
  type SessionOptions,
  type PendingTurn,
  type EventOf,
  type RunEvent,
  type UnknownEvent,
  type FollowOptions,
  type Entry,
  type MessageEntry,
  type NoticeEntry,
  type PatchHunk,
  type QuestionEntry,
  type TextEntry,
  type ThinkingEntry,
  type ToolEntry,
  emptyTranscript,
  type Transcript,
  extendTranscript,
  verifyWebhook,
  type WebhookEvent,
  WebhookRejected,
  type WebhookRequest,
};
