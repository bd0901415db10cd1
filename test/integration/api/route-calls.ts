import type { RouteEntry } from '../../../api/http/route-table.ts';
import type { Answer, caller } from './call.ts';

interface RouteCall {
  /** The values of the path parameters. */
  ids: Record<string, string>;
  headers?: Record<string, string>;
}

/** Calls a route with a valid request. */
export function callRoute(
  call: ReturnType<typeof caller>,
  { method, url }: RouteEntry,
  { ids, headers: sent = {} }: RouteCall,
): Promise<Answer> {
  const isRead = method === 'GET' || method === 'HEAD';
  const body = bodies[`${method} ${url.replace('/api/projects/:projectId/', '/api/v1/')}`] ?? {};
  const headers = url.includes('.tar') ? { 'content-type': 'application/x-tar', ...sent } : sent;
  return call(addressOf(url, ids), { method, headers, ...(isRead ? {} : { body }) });
}

export function addressOf(url: string, ids: Record<string, string>): string {
  return url.replace('*', 'a.txt').replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`${url}: what is a ${name}?`);
    return id;
  });
}

const mcpMessage = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** Bodies for operations that reject `{}`. */
const bodies: Record<string, unknown> = {
  'POST /api/sign-in': { code: 'unknown' },
  'POST /api/v1/mcp': mcpMessage,
  'POST /mcp': mcpMessage,
  // Every caller that is accepted has this session.
  'POST /api/v1/flows/:flowId/chat': { message: 'Hello', sessionId: 'session-1' },
  'PATCH /api/v1/runs/:runId/labels': { labels: { stage: 'taken over' } },
  'POST /api/v1/runs/:runId/files': { files: [{ path: 'a.txt', content: 'a', encoding: 'utf8' }] },
  'POST /api/v1/flows/check': { name: 'A flow' },
  'PUT /api/v1/flows/:flowId/files': { files: [] },
  'POST /api/v1/runs/:runId/interactions/:interactionId': { answers: { 'Which?': 'That.' } },
};

/** Routes that end or delete what other routes need come last. */
export const endsLast = (routes: readonly RouteEntry[]): RouteEntry[] =>
  [...routes].sort((one, other) => ends(one) - ends(other));

function ends({ method, url, config }: RouteEntry): number {
  if (url === '/api/sign-out') return 4;
  // A stream is endless until its run is deleted.
  if (config.isStream === true) return 3;
  if (method === 'DELETE') return 2;
  return /\/(stop|interrupt)$/.test(url) ? 1 : 0;
}
