import type { FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import type { EndingCalls } from './ending-calls.ts';

/** A request to a route of this API. */
export interface ApiCall {
  method: 'GET' | 'POST';
  /** Includes the query. */
  path: string;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Ends the call, which then rejects. */
  signal?: AbortSignal;
}

export interface ApiResponse {
  status: number;
  /** Untyped: the envelope of a success or an error. */
  json: unknown;
  text: string;
  /** Of the next page of a list. */
  nextCursor: string | null;
}

export interface CallApi {
  (call: ApiCall): Promise<ApiResponse>;
  /** Aborts when the client disconnects or the service closes: then no tool waits. */
  readonly signal: AbortSignal;
  /** The ID of an agent's tool call, which a repeated call has too. Null: unknown. */
  readonly toolCallId: string | null;
}

/**
 * Calls routes with the key and the address of a request. The calls pass all hooks, so a tool has
 * exactly the permissions of its key.
 */
export function createCallApi(
  app: App,
  { headers, ip }: FastifyRequest,
  { endingCalls, ...of }: Pick<CallApi, 'signal' | 'toolCallId'> & { endingCalls: EndingCalls },
): CallApi {
  const { authorization = '' } = headers;
  return Object.assign(callApi, of);

  async function callApi({
    method,
    path,
    body,
    headers: further = {},
    signal,
  }: ApiCall): Promise<ApiResponse> {
    const inject = (own: Record<string, string>) =>
      app.inject({
        method,
        url: path,
        remoteAddress: ip,
        headers: { authorization, ...further, ...own },
        ...(body === undefined ? {} : { payload: body }),
      });
    const response = await (signal ? endingCalls.run(signal, inject) : inject({}));
    const text = response.body;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      text,
      json: isJson ? JSON.parse(text) : null,
      nextCursor: cursorIn(response.headers['link']),
    };
  }
}

function cursorIn(link: unknown): string | null {
  const [, url] = /^<([^>]+)>; rel="next"$/.exec(String(link)) ?? [];
  return url === undefined ? null : new URL(url).searchParams.get('cursor');
}
