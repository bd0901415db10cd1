/** The service over HTTP, used as its clients use it. */
export interface Api {
  call: (method: string, path: string, options?: CallOptions) => Promise<Response>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

/** Every call carries the key; an answer that is no success is thrown with what the service said. */
export function createApi(baseUrl: string, key: string): Api {
  return {
    async call(method, path, { headers = {}, body, signal } = {}) {
      const answer = await fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      if (answer.ok) return answer;
      throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    },
  };
}

/** The `data` of a success. */
export async function dataOf<T>(answer: Response): Promise<T> {
  const { data } = (await answer.json()) as { data: T }; // the service's own envelope
  return data;
}
