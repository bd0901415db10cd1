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
   * One run's way: what a run has under way at once is counted apart, so that none starves another.
   * `own` is asked at every call for the model that the run's project pays for; null: the service's.
   */
  forRun(projectModel: ProjectModelSource): ModelProxy;
  close(): Promise<void>;
}

export type ProjectModelSource = () => Promise<ModelUpstream | null>;

/** Forwards one call; `path` is what follows `/model`, query included. */
export type ModelProxy = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => Promise<void>;

const allowedPaths = new Set(['/v1/messages', '/v1/messages/count_tokens']);
const callsAtOnceMax = 32;
/** Twice what the API takes. */
const bodyMaxBytes = 64 * 1024 ** 2;
/** A model may think for minutes before its first byte, and between two. */
const silenceTimeoutMs = 15 * 60_000;

/** What belongs to one connection, and what would be a credential of the sandbox's own. */
const droppedRequestHeaders = new Set(
  (
    'host connection keep-alive proxy-connection proxy-authorization te trailer upgrade ' +
    'transfer-encoding expect x-api-key authorization cookie'
  ).split(' '),
);
/** Nor is it told whose key it works with. */
const droppedResponseHeaders = new Set(
  (
    'connection keep-alive proxy-connection transfer-encoding trailer upgrade set-cookie ' +
    'anthropic-organization-id'
  ).split(' '),
);

/**
 * The way to the model, and to nothing else: two pinned paths, to which the operator's key, or the
 * project's, is added. Bodies pass through in both directions as they come. What goes wrong is
 * answered in the words of the model's API, with a status that its clients retry.
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
    const refusal = rejectionFor(request, path, calls);
    if (refusal !== null) return reject(request, response, refusal);
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
  message: 'the model API is away',
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
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}

/** The body is not wanted: the connection ends with the answer instead of reading it. */
function reject(request: IncomingMessage, response: ServerResponse, refusal: Rejection): void {
  response.setHeader('connection', 'close');
  request.resume();
  answerError(response, refusal);
}

function answerError(response: ServerResponse, { status, type, message }: Rejection): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}
