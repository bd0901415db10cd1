import type { FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/** A request to a route of this API. */
interface ApiCall {
  method: 'GET' | 'POST';
  /** Includes the query. */
  path: string;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export interface ApiResponse {
  status: number;
  /** Untyped: the envelope of a success or an error. */
  json: unknown;
  text: string;
}

export type CallApi = (call: ApiCall) => Promise<ApiResponse>;

/**
 * Calls routes with the key and the address of a request. The calls pass all hooks, so a tool has
 * exactly the permissions of its key.
 */
export function createCallApi(app: App, { headers, ip }: FastifyRequest): CallApi {
  const { authorization = '' } = headers;
  return async ({ method, path, body, headers: further = {} }) => {
    const response = await app.inject({
      method,
      url: path,
      remoteAddress: ip,
      headers: { authorization, ...further },
      ...(body === undefined ? {} : { payload: body }),
    });
    const text = response.body;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return { status: response.statusCode, text, json: isJson ? JSON.parse(text) : null };
  };
}
