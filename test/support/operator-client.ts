import { vi } from 'vitest';
import type { Service } from './service.ts';

interface OperatorAnswer {
  status: number;
  headers: Headers;
  /** The `data` of a successful response, in the type that the test expects. */
  data: ReturnType<typeof JSON.parse>;
  text: string;
}

export type OperatorCall = (
  method: string,
  path: string,
  options?: { body?: unknown; url?: string },
) => Promise<OperatorAnswer>;

/** Signs in by a link as the page does, and sends the cookie with later calls. */
export async function signInBy(service: Pick<Service, 'url'>, link: string): Promise<OperatorCall> {
  const call = callerWith(service.url, '');
  const answer = await call('POST', '/api/sign-in', { body: { code: link.split('#')[1] } });
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.text}`);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';', 1);
  return callerWith(service.url, cookie);
}

/** Signs in by the link of the first start, once it is logged. */
export async function signInByFirstLink(
  service: Pick<Service, 'url' | 'api'>,
): Promise<OperatorCall> {
  const link = () => firstLink(service.api.log()) ?? Promise.reject(new Error('no link yet'));
  return signInBy(service, await vi.waitFor(link, { timeout: 60_000 }));
}

/** Returns the sign-in link that the first start has logged. */
export function firstLink(log: string): string | undefined {
  return /"link":"([^"]+)"/.exec(log)?.[1];
}

function callerWith(home: string, cookie: string): OperatorCall {
  return async (method, path, { body, url = home } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        origin: home,
        cookie,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { data } = JSON.parse(text) as { data: unknown };
    return { status: response.status, headers: response.headers, data, text };
  };
}
