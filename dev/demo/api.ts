import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../lib/progress.ts';
import { SetupError } from '../lib/setup-error.ts';
import { commandHint } from '../stack/command-hint.ts';

/** The public HTTP interface, used as clients use it. */
export interface Api {
  call: (method: string, path: string, options?: CallOptions) => Promise<Response>;
}

interface CallOptions {
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

/** After a restore, the service reconciles for up to two minutes. */
const retryTimeoutMs = 180_000;

/**
 * Sends the key with every call. Retries a 503, which the service sends right after a restore or
 * while a dependency is down. Throws any other error with the service's message.
 */
export function createApi(baseUrl: string, key: string, timeoutMs = retryTimeoutMs): Api {
  return {
    async call(method, path, options = {}) {
      const send = () => fetch(`${baseUrl}${path}`, requestOf(method, key, options));
      const deadline = Date.now() + timeoutMs;
      for (let attempt = 1; ; attempt += 1) {
        const answer = await send();
        if (answer.ok) return answer;
        const text = await answer.text();
        const waitMs = Number(answer.headers.get('retry-after') ?? 1) * 1_000;
        if (answer.status !== 503)
          throw new Error(`${method} ${path} returned ${answer.status}: ${text}`);
        if (Date.now() + waitMs > deadline) throw unavailable(timeoutMs, text);
        if (attempt === 1)
          print(`  503 ${messageIn(text)}\n  (retrying for ${timeoutMs / 1_000} s at most)`);
        await sleep(waitMs);
      }
    },
  };
}

function requestOf(method: string, key: string, { headers, body, signal }: CallOptions) {
  return {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function unavailable(timeoutMs: number, text: string): SetupError {
  return new SetupError(
    `The service was unavailable for ${timeoutMs / 1_000} s: ${messageIn(text)}\n` +
      `To find the cause, run ${commandHint('npx flowrun doctor')}`,
  );
}

/** The message in an error response. */
function messageIn(text: string): string {
  const { error } = JSON.parse(text) as { error: { message: string } }; // the service's own envelope
  return error.message;
}

/** The `data` of a successful response. */
export async function dataOf<T>(answer: Response): Promise<T> {
  const { data } = (await answer.json()) as { data: T }; // the service's own envelope
  return data;
}
