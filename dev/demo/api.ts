import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../lib/progress.ts';
import { SetupError } from '../lib/setup-error.ts';
import { commandHint } from '../stack/command-hint.ts';

/** The service over HTTP, used as its clients use it. */
export interface Api {
  call: (method: string, path: string, options?: CallOptions) => Promise<Response>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

/** What a restored backup has lost is found out within two minutes. */
const patienceMs = 180_000;

/**
 * Every call carries the key, and one that is told to come again later does: right after a restore,
 * or while a part of the service is away. Any other answer that is no success is thrown with what
 * the service said.
 */
export function createApi(baseUrl: string, key: string, withinMs = patienceMs): Api {
  return {
    async call(method, path, options = {}) {
      const send = () => fetch(`${baseUrl}${path}`, requestOf(method, key, options));
      const until = Date.now() + withinMs;
      for (let tries = 1; ; tries += 1) {
        const answer = await send();
        if (answer.ok) return answer;
        const text = await answer.text();
        const waitMs = Number(answer.headers.get('retry-after') ?? 1) * 1_000;
        if (answer.status !== 503)
          throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
        if (Date.now() + waitMs > until) throw givenUp(withinMs, text);
        if (tries === 1)
          print(
            `  503 ${messageIn(text)}\n  (asked again, as it says, for ${withinMs / 1_000} s at most)`,
          );
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

function givenUp(withinMs: number, text: string): SetupError {
  return new SetupError(
    `The service could not go on for ${withinMs / 1_000} s, and said: ${messageIn(text)}\n` +
      `This says what is wrong: ${commandHint('npx flowrun doctor')}`,
  );
}

/** What the service said for people. */
function messageIn(text: string): string {
  const { error } = JSON.parse(text) as { error: { message: string } }; // the service's own envelope
  return error.message;
}

/** The `data` of a success. */
export async function dataOf<T>(answer: Response): Promise<T> {
  const { data } = (await answer.json()) as { data: T }; // the service's own envelope
  return data;
}
