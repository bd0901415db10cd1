import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';
import { answerHeaders } from './call-headers.ts';

/** A call of an agent that was read and accepted. */
export interface ModelCall {
  endpoint: ModelEndpoint;
  /** `?beta=true` or empty. */
  query: string;
  /** Those of the agent that are forwarded. */
  headers: Record<string, string | string[]>;
  request: ModelRequest;
  /**
   * Serialized from its parsed form: the model API reads what was checked, even if the agent's text named
   * a field twice.
   */
  body: string;
}

export interface Upstream {
  dispatcher: Dispatcher;
  base: URL;
  apiKey: string;
}

/** Sends the call to the model API with the owner's key, and relays the answer as it arrives. */
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
    headers: {
      ...call.headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'x-api-key': to.apiKey,
    },
    body: call.body,
    signal: abort.signal,
  });
  await relayAnswer(answer, response);
}

/** Every byte of every answer passes here. The model API was asked not to compress it. */
async function relayAnswer(answer: Dispatcher.ResponseData, response: ServerResponse) {
  response.writeHead(answer.statusCode, answerHeaders(answer.headers));
  response.flushHeaders();
  await pipeline(answer.body, response);
}
