import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';

/** A call of an agent that was read and accepted. */
export interface ModelCall {
  endpoint: ModelEndpoint;
  /** `?beta=true` or empty. */
  query: string;
  /** As the agent sent them. */
  headers: IncomingHttpHeaders;
  request: ModelRequest;
}

export interface Upstream {
  dispatcher: Dispatcher;
  base: URL;
  apiKey: string;
}

/**
 * Sends the call to the model API with the owner's key, and relays the answer as it arrives. The body
 * is serialized from its parsed form: the model API reads what was checked, even if the agent's text
 * named a field twice.
 */
export async function forwardCall(
  to: Upstream,
  call: ModelCall,
  response: ServerResponse,
): Promise<void> {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const answer = await to.dispatcher.request({
    origin: to.base.origin,
    path: to.base.pathname.replace(/\/+$/, '') + call.endpoint + call.query,
    method: 'POST',
    headers: upstreamHeaders(call.headers, to.apiKey),
    body: JSON.stringify(call.request.fields),
    signal: abort.signal,
  });
  await relayAnswer(answer, response);
}

/** Every byte of every answer passes here. The model API was asked not to compress it. */
async function relayAnswer(answer: Dispatcher.ResponseData, response: ServerResponse) {
  response.writeHead(answer.statusCode, withoutHeaders(answer.headers, droppedAnswerHeaders));
  response.flushHeaders();
  await pipeline(answer.body, response);
}

function upstreamHeaders(
  headers: IncomingHttpHeaders,
  apiKey: string,
): Record<string, string | string[]> {
  return {
    ...withoutHeaders(headers, droppedRequestHeaders),
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'x-api-key': apiKey,
  };
}

/** Hop-by-hop headers, credentials from the sandbox, and headers of the body, which is serialized again. */
const droppedRequestHeaders = new Set(
  (
    'host connection keep-alive proxy-connection proxy-authorization te trailer upgrade ' +
    'transfer-encoding expect x-api-key authorization cookie content-length content-encoding'
  ).split(' '),
);
/** Hop-by-hop headers, and those that identify the key's owner. */
const droppedAnswerHeaders = new Set(
  (
    'connection keep-alive proxy-connection transfer-encoding trailer upgrade set-cookie ' +
    'anthropic-organization-id'
  ).split(' '),
);

function withoutHeaders(
  headers: IncomingHttpHeaders,
  dropped: Set<string>,
): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) forwarded[name] = value;
  }
  return forwarded;
}
