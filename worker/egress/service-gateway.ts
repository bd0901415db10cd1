// Forwards the calls of agents to the tools of this service. The agent token is added here, outside
// the sandbox.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { Agent, type Dispatcher, request as send } from 'undici';
import { childRunLimits } from '../../core/runs/child-runs.ts';
import { type TokenBucket, takeToken } from '../../core/token-bucket.ts';
import { sleep } from '../../lib/async/sleep.ts';

/** Answers `/mcp`. */
export type ServiceProxy = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface ServiceGateway {
  /** The proxy of one run. Without a token, there are no tools. */
  forRun(token: string | null, logger: Logger): ServiceProxy;
  close(): Promise<void>;
}

/** A tool answers within a minute. */
const answerTimeoutMs = 90_000;
/** An API that is being restarted is back by then. */
const retryDelaysMs = [500, 1_000, 2_000, 4_000];

export function createServiceGateway(apiUrl: string): ServiceGateway {
  const dispatcher = new Agent({
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    connect: { timeout: 10_000 },
  });
  return {
    forRun(token, logger) {
      if (token === null) return async (_request, response) => answerEmpty(response, 404);
      return createServiceProxy({ url: `${apiUrl}/api/v1/mcp`, token, dispatcher, logger });
    },
    close: () => dispatcher.destroy(),
  };
}

interface ServiceUpstream {
  url: string;
  token: string;
  dispatcher: Dispatcher;
  logger: Logger;
}

/**
 * Every process of the sandbox can send requests without end, and each costs the worker and the API
 * time. A call counts until the sandbox has read its answer, which is in memory until then.
 */
function createServiceProxy(upstream: ServiceUpstream): ServiceProxy {
  const secondsToWait = createRateLimit();
  let calls = 0;
  return async (request, response) => {
    const waitSeconds = secondsToWait();
    if (waitSeconds > 0) return answerEmpty(response, 429, { 'retry-after': String(waitSeconds) });
    if (request.method !== 'POST') return answerEmpty(response, 405, { allow: 'POST' });
    if (calls >= childRunLimits.concurrentCallsMax) return answerEmpty(response, 503);
    calls += 1;
    const leaving = new AbortController();
    response.once('close', () => {
      calls -= 1;
      leaving.abort();
    });
    try {
      const body = await readBody(request);
      if (body === null) return answerEmpty(response, 413);
      const answer = await forward(upstream, { request, body, signal: leaving.signal });
      response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.text);
    } catch (err) {
      if (response.destroyed) return;
      upstream.logger.warn({ err }, 'agent_call_failed');
      answerEmpty(response, 502);
    }
  };
}

/** The API accepts no more than this from the agent, so a refusal here changes nothing. */
function createRateLimit(): () => number {
  let bucket: TokenBucket | null = null;
  return () => {
    const perMinute = childRunLimits.ratePerMinute;
    const taken = takeToken({ bucket, perMinute, nowMs: Math.floor(performance.now()) });
    ({ bucket } = taken);
    return taken.retryAfterSeconds;
  };
}

interface AgentCall {
  request: IncomingMessage;
  body: string;
  /** Aborts when the agent has disconnected. */
  signal: AbortSignal;
}

interface ServiceAnswer {
  status: number;
  type: string;
  text: string;
}

/**
 * Repeats a call whose connection is lost. The ID makes the repetition safe: a call starts one run
 * at most.
 */
async function forward(upstream: ServiceUpstream, call: AgentCall): Promise<ServiceAnswer> {
  const id = randomUUID();
  for (const delayMs of retryDelaysMs) {
    try {
      return await forwardOnce(upstream, call, id);
    } catch (error) {
      if (call.signal.aborted) throw error;
      await sleep(delayMs, call.signal);
    }
  }
  return forwardOnce(upstream, call, id);
}

async function forwardOnce(
  { url, token, dispatcher }: ServiceUpstream,
  { request, body, signal }: AgentCall,
  id: string,
): Promise<ServiceAnswer> {
  const answer = await send(url, {
    method: 'POST',
    dispatcher,
    signal,
    body,
    headers: {
      ...protocolHeaders(request),
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'idempotency-key': id,
    },
  });
  const type = String(answer.headers['content-type'] ?? 'application/json');
  return { status: answer.statusCode, type, text: await text(answer.body) };
}

/** Headers of the protocol. No other header of the sandbox is forwarded. */
function protocolHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}

/** Null if the body is too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > childRunLimits.callMaxBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

function answerEmpty(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { connection: 'close', ...headers }).end();
}
