import { ConnectionFailed, type FlowrunError, isFlowrunError, NotFound } from './errors.ts';
import { responseError } from './response-error.ts';
import { retryDelayMs } from './retry-delay.ts';
import { wait } from './wait.ts';

export interface Retry {
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
  /** The path that paths of requests are relative to. */
  root?: '/api/v1' | '/api' | `/api/projects/${string}`;
  key: string | undefined;
  fetch: typeof fetch;
  /** Aborts every request. */
  signal: AbortSignal | undefined;
  onRetry: ((retry: Retry) => void) | undefined;
}

type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface HttpRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the root. */
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
  onRetry?: (retry: Retry) => void;
  /** Limits the wait for the response, or for its head if the caller reads the body later. */
  timeoutMs?: number;
}

export interface Http {
  /** Returns a successful response, whose body has not been read. */
  send(request: HttpRequest): Promise<Response>;
  /** Reads a successful response. A body that is cut off is requested again. */
  read<T>(request: HttpRequest, reading: Reading<T>): Promise<T>;
  /** Returns the `data` of a successful response. */
  data<T>(request: HttpRequest): Promise<T>;
  /**
   * Deletes what the path names. A repeated request finds nothing if only the answer to an earlier
   * one was lost: then returns `deleted`.
   */
  remove<T>(request: HttpRequest, deleted: T): Promise<T>;
  /** Yields the items of every page. */
  items<T>(request: HttpRequest): AsyncGenerator<T, void, undefined>;
}

export function createHttp(options: HttpOptions): Http {
  const base = `${serviceOf(options.url)}${options.root ?? '/api/v1'}`;

  async function call<T>(request: HttpRequest, read: Reading<T>): Promise<T> {
    const { method = 'GET', path, attempts = 4, isRepeatable = method !== 'POST' } = request;
    const signal = anyOf(options.signal, request.signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await callOnce({ ...request, method, signal }, read);
      } catch (error) {
        if (!isFlowrunError(error) || attempt >= attempts) throw error;
        const delayMs = retryDelayMs({ attempt, error, isRepeatable });
        if (delayMs === null) throw error;
        for (const { onRetry } of [options, request]) {
          onRetry?.({ method, path, attempt, delayMs, error });
        }
        await wait(delayMs, signal);
      }
    }
  }

  async function callOnce<T>(request: HttpRequest, read: Reading<T>): Promise<T> {
    const { method = 'GET', path, query, signal, json } = request;
    const body = json === undefined ? request.body : JSON.stringify(json);
    // Invalid headers are an error of the caller, and no failed connection.
    const headers = new Headers(headersOf(request, options.key));
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), request.timeoutMs ?? timeoutFor(body));
    try {
      const response = await options.fetch(`${base}${path}${queryOf(query)}`, {
        method,
        headers,
        signal: anyOf(signal, timer.signal) ?? null,
        ...(body === undefined ? {} : { body }),
      });
      if (!response.ok) throw await responseError(response);
      return await read(response);
    } catch (error) {
      if (isFlowrunError(error)) throw error;
      if (signal?.aborted === true) throw signal.reason;
      throw new ConnectionFailed(`${method} ${base}${path} failed.`, error);
    } finally {
      clearTimeout(timeout);
    }
  }

  return {
    send: (request) => call(request, async (response) => response),
    read: call,
    data: <T>(request: HttpRequest) => call(request, readData<T>),
    remove: (request, deleted) => remove(call, request, deleted),
    items: <T>(request: HttpRequest) => itemsOf<T>(call, request),
  };
}

async function remove<T>(call: Http['read'], request: HttpRequest, deleted: T): Promise<T> {
  let mayBeDeleted = false;
  const onRetry = ({ error }: Retry): void => {
    mayBeDeleted ||= error instanceof ConnectionFailed || (error.status ?? 0) >= 500;
  };
  try {
    return await call({ ...request, method: 'DELETE', onRetry }, readData<T>);
  } catch (error) {
    if (mayBeDeleted && error instanceof NotFound) return deleted;
    throw error;
  }
}

async function* itemsOf<T>(
  call: Http['read'],
  request: HttpRequest,
): AsyncGenerator<T, void, undefined> {
  let { query } = request;
  for (;;) {
    const page = await call({ ...request, query }, readPage);
    yield* page.items as T[]; // the schemas of the API
    if (page.cursor === null) return;
    query = { ...query, cursor: page.cursor };
  }
}

/** The address of the service. Also accepts that of the API itself. */
function serviceOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`The address ${url} is not http or https.`);
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}`;
}

/** A minute, and a second for each 64 KiB that are sent. */
function timeoutFor(body: string | Uint8Array | Blob | undefined): number {
  const bytes = body instanceof Blob ? body.size : (body?.length ?? 0);
  return 60_000 + (bytes / 65_536) * 1_000;
}

type Reading<T> = (response: Response) => Promise<T>;

async function readData<T>(response: Response): Promise<T> {
  const { data } = (await response.json()) as { data: T }; // the schemas of the API
  return data;
}

async function readPage(response: Response) {
  const items = await readData<unknown[]>(response);
  return { items, cursor: nextCursor(response.headers.get('link')) };
}

function headersOf(request: HttpRequest, key: string | undefined): Record<string, string> {
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  };
}

function queryOf(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of [value].flat()) parameters.append(name, String(each));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function nextCursor(link: string | null): string | null {
  const [, address] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  return address === undefined
    ? null
    : new URL(address, 'http://service').searchParams.get('cursor');
}

function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length < 2 ? given[0] : AbortSignal.any(given);
}
