import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher } from 'undici';

export interface ModelUpstream {
  apiKey: string;
  baseUrl: string;
}

interface Gateway {
  /**
   * The proxy of one run. Concurrent calls are limited per run, so that none starves another. Each call
   * reads the upstream of the run's project. Null selects the service's.
   */
  forRun(projectModel: ProjectModelSource): ModelProxy;
  close(): Promise<void>;
}

export type ProjectModelSource = () => Promise<ModelUpstream | null>;

/** Forwards one call. `path` is the part after `/model`, including the query. */
export type ModelProxy = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => Promise<void>;

const allowedPaths = new Set(['/v1/messages', '/v1/messages/count_tokens']);
const callsAtOnceMax = 32;
/** Twice the limit of the API. */
const bodyMaxBytes = 64 * 1024 ** 2;
/** A model may take minutes before its first byte, and between two bytes. */
const silenceTimeoutMs = 15 * 60_000;

/** Hop-by-hop headers, and credentials from the sandbox. */
const droppedRequestHeaders = new Set(
  (
    'host connection keep-alive proxy-connection proxy-authorization te trailer upgrade ' +
    'transfer-encoding expect x-api-key authorization cookie'
  ).split(' '),
);
/** Hop-by-hop headers, and those that identify the key's owner. */
const droppedResponseHeaders = new Set(
  (
    'connection keep-alive proxy-connection transfer-encoding trailer upgrade set-cookie ' +
    'anthropic-organization-id'
  ).split(' '),
);

/**
 * Proxies two fixed paths to the model API, and adds the operator's or the project's key. Bodies are
 * streamed in both directions. Errors have the model API's format, and a status that its clients retry.
 */
export function createGateway(model: ModelUpstream): Gateway {
  const dispatcher = new Agent({
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
    connect: { timeout: 10_000 },
  });
  const forRun = (own: ProjectModelSource): ModelProxy =>
    createModelProxy(async () => upstreamOf(dispatcher, (await own()) ?? model));
  return { forRun, close: () => dispatcher.destroy() };
}

interface Upstream {
  dispatcher: Dispatcher;
  base: URL;
  apiKey: string;
}

const upstreamOf = (dispatcher: Dispatcher, { baseUrl, apiKey }: ModelUpstream): Upstream => ({
  dispatcher,
  base: new URL(baseUrl),
  apiKey,
});

function createModelProxy(findUpstream: () => Promise<Upstream>): ModelProxy {
  let calls = 0;
  return async (request, response, path) => {
    const rejection = rejectionFor(request, path, calls);
    if (rejection !== null) return reject(request, response, rejection);
    calls += 1;
    try {
      await forward(await findUpstream(), { request, response, path });
    } catch (error) {
      answerError(response, error instanceof BodyTooLong ? tooLong : upstreamUnavailable);
    } finally {
      calls -= 1;
    }
  };
}

interface Rejection {
  status: number;
  type: string;
  message: string;
}

const upstreamUnavailable: Rejection = {
  status: 502,
  type: 'api_error',
  message: 'the model API is unavailable',
};
const tooLong: Rejection = {
  status: 413,
  type: 'request_too_large',
  message: 'the request is too long',
};

class BodyTooLong extends Error {}

function rejectionFor(request: IncomingMessage, path: string, calls: number): Rejection | null {
  const [pathname = ''] = path.split('?', 1);
  if (!allowedPaths.has(pathname)) {
    return { status: 404, type: 'not_found_error', message: 'only the messages API is served' };
  }
  if (request.method !== 'POST') {
    return { status: 405, type: 'invalid_request_error', message: 'only POST is served' };
  }
  if (calls >= callsAtOnceMax) {
    return { status: 529, type: 'overloaded_error', message: 'too many calls at once' };
  }
  return null;
}

async function forward(
  to: Upstream,
  { request, response, path }: { request: IncomingMessage; response: ServerResponse; path: string },
): Promise<void> {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const answer = await to.dispatcher.request({
    origin: to.base.origin,
    path: to.base.pathname.replace(/\/+$/, '') + path,
    method: 'POST',
    headers: { ...filterHeaders(request.headers, droppedRequestHeaders), 'x-api-key': to.apiKey },
    body: Readable.from(bounded(request), { objectMode: false }),
    signal: abort.signal,
  });
  response.writeHead(answer.statusCode, filterHeaders(answer.headers, droppedResponseHeaders));
  response.flushHeaders();
  await pipeline(answer.body, response);
}

async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bodyMaxBytes) throw new BodyTooLong();
    yield chunk;
  }
}

function filterHeaders(
  headers: IncomingHttpHeaders,
  dropped: Set<string>,
): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) forwarded[name] = value;
  }
  return forwarded;
}

/** The connection is closed with the answer, so that the body need not be read. */
function reject(request: IncomingMessage, response: ServerResponse, rejection: Rejection): void {
  response.setHeader('connection', 'close');
  request.resume();
  answerError(response, rejection);
}

function answerError(response: ServerResponse, { status, type, message }: Rejection): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}
