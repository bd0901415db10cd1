import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents, type SentEvent } from './sent-events.ts';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  /** The `data` of a successful response. */
  data: T;
  /** The whole body, parsed if it is JSON. */
  body: unknown;
}

/** The fields of a run record that tests read. */
export interface RunRecord {
  runId: string;
  status: string;
  agentStatus: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  error?: string;
  exitCode: number | null;
  result: string | null;
  labels: Record<string, string>;
  usage: Record<string, number>;
  costUsd: number | null;
  numTurns: number;
  streamUrl: string;
  structuredOutput: unknown;
  mcpServerNames: string[];
  files: unknown;
  webhook: { state: string; attempts: number; lastStatus: number | null };
  deleted?: boolean;
}

interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  key?: string | null;
}

export interface ApiClient {
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Answer<T>>;
  trigger(body: Record<string, unknown>, headers?: Record<string, string>): Promise<RunRecord>;
  readRun(runId: string): Promise<RunRecord>;
  /** Yields every event until the stream ends. */
  stream(runId: string, lastEventId?: string): AsyncIterable<SentEvent>;
  untilEnded(runId: string, withinMs?: number): Promise<RunRecord>;
}

export function createApiClient(access: { url: string; key: string; flowId: string }): ApiClient {
  async function call<T>(
    method: string,
    path: string,
    { body, headers = {}, key = access.key }: CallOptions = {},
  ): Promise<Answer<T>> {
    const response = await fetch(`${access.url}/api/v1${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed = parse(await response.text()) as { data: T };
    return { status: response.status, headers: response.headers, data: parsed.data, body: parsed };
  }

  async function trigger(
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<RunRecord> {
    const path = `/flows/${access.flowId}/runs`;
    const answer = await call<RunRecord>('POST', path, { body, headers });
    if (answer.status !== 201) {
      throw new Error(`not admitted: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.data;
  }

  async function readRun(runId: string): Promise<RunRecord> {
    return (await call<RunRecord>('GET', `/runs/${runId}`)).data;
  }

  async function* stream(runId: string, lastEventId?: string): AsyncIterable<SentEvent> {
    const response = await fetch(`${access.url}/api/v1/runs/${runId}/stream`, {
      headers: {
        authorization: `Bearer ${access.key}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });
    if (!response.ok || !response.body) throw new Error(`no stream: ${response.status}`);
    yield* readEvents(response.body);
  }

  async function untilEnded(runId: string, withinMs = 120_000): Promise<RunRecord> {
    const end = performance.now() + withinMs;
    for (;;) {
      const run = await readRun(runId);
      if (run.finishedAt !== null) return run;
      if (performance.now() > end) throw new Error(`still running: ${JSON.stringify(run)}`);
      await sleep(100);
    }
  }

  return { call, trigger, readRun, stream, untilEnded };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
