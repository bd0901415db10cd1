import type { Dispatcher } from 'undici';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';

/** An agent's call whose content was checked. */
export interface ModelCall {
  endpoint: ModelEndpoint;
  /** `?beta=true` or empty. */
  query: string;
  /** The agent's headers that are forwarded. */
  headers: Record<string, string | string[]>;
  request: ModelRequest;
  /**
   * Serialized from the parsed request, so that the model API reads what was checked, even if the
   * agent's text contained a field twice.
   */
  body: string;
}

export interface Upstream {
  dispatcher: Dispatcher;
  base: URL;
  apiKey: string;
}

/** The request for the model API, with the owner's key. */
export const upstreamRequest = (
  to: Upstream,
  call: Pick<ModelCall, 'endpoint' | 'query' | 'headers' | 'body'>,
  signal: AbortSignal,
): Dispatcher.RequestOptions => ({
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
  signal,
});
