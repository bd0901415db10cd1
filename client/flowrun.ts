import { type FlowFiles, flowFiles } from './files/flow-files.ts';
import type { Flow, RunDetails, RunRecord } from './generated/types.ts';
import { createHttp, type Http, type Retry } from './http/http.ts';
import { createFlowNames, type FlowNames } from './runs/flow-names.ts';
import { openRun, type Run } from './runs/run.ts';
import type { RunOptions } from './runs/run-request.ts';
import { type PendingRun, startRun } from './runs/start-run.ts';
import { getSession, openSession, type Session, type SessionOptions } from './sessions/session.ts';

export interface FlowrunOptions {
  /** The address of the service. The default is the environment variable FLOWRUN_URL. */
  url?: string;
  /**
   * An API key, a run token in a web page, or an operator token with `project`. The default is the
   * variable FLOWRUN_KEY.
   */
  key?: string;
  /** The project that calls with an operator token are for. A key has its own project. */
  project?: string;
  fetch?: typeof fetch;
  /** Aborts all calls. */
  signal?: AbortSignal;
  /** Called before the wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}

export interface RunFilter {
  flow?: string;
  status?: RunRecord['status'];
  agentStatus?: NonNullable<RunRecord['agentStatus']>;
  triggerType?: RunRecord['triggerType'];
  sessionId?: string;
  /** Runs that have all of these labels. */
  labels?: Record<string, string>;
  createdAfter?: string;
  createdBefore?: string;
  /** How many runs one request reads. */
  pageSize?: number;
}

export class Flowrun {
  readonly #http: Http;
  readonly #flows: FlowNames;

  constructor(options: FlowrunOptions = {}) {
    const url = options.url ?? variable('FLOWRUN_URL');
    if (url === undefined)
      throw new TypeError('The address of the service is missing: pass url, or set FLOWRUN_URL.');
    this.#http = createHttp({
      url,
      ...(options.project === undefined ? {} : { root: rootOf(options.project) }),
      key: options.key ?? variable('FLOWRUN_KEY'),
      // A browser's fetch works only as a method of its window.
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
      signal: options.signal,
      onRetry: options.onRetry,
    });
    this.#flows = createFlowNames(this.#http);
  }

  /** Starts a run of a flow, given by name or ID. */
  run<T = unknown>(flow: string, options: RunOptions<T> = {}): PendingRun<T> {
    return startRun({ http: this.#http, flows: this.#flows }, flow, options);
  }

  /** Opens a session of a flow, or continues the one with this ID. */
  session(flow: string, options: SessionOptions = {}): Promise<Session> {
    return this.#flows.withFlow(flow, (flowId) => openSession(this.#http, flowId, options));
  }

  /** Returns an existing session by its run. A run token of the session can do this. */
  getSession(runId: string): Promise<Session> {
    return getSession(this.#http, runId);
  }

  async getRun(runId: string): Promise<Run> {
    const path = `/runs/${encodeURIComponent(runId)}`;
    return openRun(this.#http, await this.#http.data<RunDetails>({ path }));
  }

  /** Yields the matching runs, newest first. */
  async *runs({
    flow,
    labels = {},
    pageSize,
    ...filter
  }: RunFilter = {}): AsyncGenerator<Run, void, undefined> {
    const query = {
      ...filter,
      limit: pageSize,
      flowId: flow === undefined ? undefined : await this.#flows.idOf(flow),
      label: Object.entries(labels).map(([name, value]) => `${name}:${value}`),
    };
    for await (const record of this.#http.items<RunRecord>({ path: '/runs', query })) {
      yield openRun(this.#http, record);
    }
  }

  /** The files that later runs of a flow start with. */
  flowFiles(flow: string): FlowFiles {
    return flowFiles({ http: this.#http, flows: this.#flows }, flow);
  }

  flows(): AsyncGenerator<Flow, void, undefined> {
    return this.#http.items({ path: '/flows' });
  }
}

/** Operators call the routes of keys below the path of a project. */
const rootOf = (project: string) => `/api/projects/${encodeURIComponent(project)}` as const;

function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
