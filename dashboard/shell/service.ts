// The API, by the client of the service. The browser sends the operator's cookie.

import { createHttp, type Http } from '../../client/http/http.ts';
import { isSignedOut } from './signed-out.ts';

const url = new URL('.', document.baseURI).href;

/** A browser's fetch works only as a method of its window. */
const browserFetch = globalThis.fetch.bind(globalThis);

async function noticingSignOut(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await browserFetch(...request);
  if (response.status === 401) isSignedOut.value = true;
  return response;
}

const options = { url, key: undefined, fetch: noticingSignOut, signal: undefined };

/** The routes for operators, below `/api`. */
export const service: Http = createHttp({ ...options, root: '/api', onRetry: undefined });

const projects = new Map<string, Http>();

/** The routes of a project. The client's runs, sessions and files work below them too. */
export function projectHttp(projectId: string): Http {
  const known = projects.get(projectId);
  if (known !== undefined) return known;
  const root = `/api/projects/${encodeURIComponent(projectId)}` as const;
  const http = createHttp({ ...options, root, onRetry: undefined });
  projects.set(projectId, http);
  return http;
}
