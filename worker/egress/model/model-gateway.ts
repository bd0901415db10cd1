import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { modelLimits } from '../../../core/model/model-limits.ts';
import {
  type ModelEndpoint,
  modelEndpoints,
  readModelRequest,
} from '../../../core/model/model-request.ts';
import { forwardCall, type ModelCall, type Upstream } from './forward-call.ts';
import {
  answerError,
  invalidRequest,
  type ModelApiError,
  overloaded,
  rejectCall,
} from './model-api-error.ts';
import { readCallBody } from './read-call-body.ts';

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

/** A model may take minutes before its first byte, and between two bytes. */
const silenceTimeoutMs = 15 * 60_000;

/**
 * Proxies two fixed paths to the model API, and adds the operator's or the project's key. Each request is
 * read and parsed before it is forwarded; answers are streamed. Errors have the model API's format.
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

const upstreamOf = (dispatcher: Dispatcher, { baseUrl, apiKey }: ModelUpstream): Upstream => ({
  dispatcher,
  base: new URL(baseUrl),
  apiKey,
});

function createModelProxy(findUpstream: () => Promise<Upstream>): ModelProxy {
  let calls = 0;
  return async (request, response, path) => {
    const target = targetOf(request, path);
    if ('error' in target) return rejectCall(request, response, target.error);
    if (calls >= modelLimits.callsAtOnceMax) {
      return rejectCall(request, response, overloaded('too many calls at once'));
    }
    calls += 1;
    try {
      const read = await readCall(request, target);
      if ('error' in read) return rejectCall(request, response, read.error);
      await forwardCall(await findUpstream(), read.call, response);
    } catch {
      answerError(response, upstreamUnavailable);
    } finally {
      calls -= 1;
    }
  };
}

const upstreamUnavailable: ModelApiError = {
  status: 502,
  type: 'api_error',
  message: 'the model API is unavailable',
};

type CallTarget = Pick<ModelCall, 'endpoint' | 'query'>;

function targetOf(
  { method }: IncomingMessage,
  path: string,
): CallTarget | { error: ModelApiError } {
  const endpoint = endpointOf(path.split('?', 1)[0]);
  if (endpoint === null) return { error: notServed };
  if (method !== 'POST') return { error: methodNotServed };
  return { endpoint, query: path.slice(endpoint.length) };
}

const endpointOf = (pathname = ''): ModelEndpoint | null =>
  modelEndpoints.find((endpoint) => endpoint === pathname) ?? null;

const notServed: ModelApiError = {
  status: 404,
  type: 'not_found_error',
  message: 'only the messages API is served',
};
const methodNotServed: ModelApiError = {
  status: 405,
  type: 'invalid_request_error',
  message: 'only POST is served',
};

async function readCall(
  request: IncomingMessage,
  target: CallTarget,
): Promise<{ call: ModelCall } | { error: ModelApiError }> {
  const body = await readCallBody(request);
  if (body.outcome === 'rejected') return { error: body.error };
  const read = readModelRequest(body.value);
  if (read.outcome === 'invalid') return { error: invalidRequest(read.message) };
  return { call: { ...target, headers: request.headers, request: read.request } };
}
