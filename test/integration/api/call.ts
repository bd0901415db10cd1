import type { ApiProcess } from '../../support/api-fixture.ts';

export interface CallOptions {
  method?: string;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Untyped: each test checks what it needs. */
  json: ReturnType<typeof JSON.parse>;
}

/** A call with a key, or with none. */
export function caller(api: Pick<ApiProcess, 'url'>, key: string | null) {
  return async (path: string, options: CallOptions = {}): Promise<Answer> => {
    const { method = options.body === undefined ? 'GET' : 'POST', body, headers = {} } = options;
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : null,
    };
  };
}
