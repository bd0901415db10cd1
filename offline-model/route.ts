import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from './api-error.ts';
import { respondToMessages } from './messages.ts';
import { readBody } from './read-body.ts';
import { type MessagesRequest, messagesRequest, type RouteContext } from './request.ts';
import { inputTokens } from './usage.ts';

export async function route(
  request: IncomingMessage,
  response: ServerResponse,
  context: RouteContext,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const text = await readBody(request);
  const body = parseJson(text);
  context.record({ method, url, headers, body });
  const path = url.replace(/\?.*$/, '');
  if (path === '/') return sendJson(response, { name: 'offline model' });
  requireKey(request);
  switch (`${method} ${path}`) {
    case 'POST /v1/messages':
      return respondToMessages(response, messagesOf(body), context);
    case 'POST /v1/messages/count_tokens':
      return sendJson(response, { input_tokens: inputTokens(messagesOf(body)) });
    case 'GET /v1/models':
      return sendJson(response, { data: models, has_more: false, first_id: null, last_id: null });
    default:
      throw new ApiError(path.startsWith('/v1/messages') ? 405 : 404);
  }
}

const models = [
  {
    type: 'model',
    id: 'offline-model',
    display_name: 'Offline model',
    created_at: '2026-01-01T00:00:00Z',
  },
];

function requireKey({ headers }: IncomingMessage): void {
  const key = headers['x-api-key'] ?? '';
  const bearer = /^Bearer\s+\S/i.test(headers.authorization ?? '');
  if (key === '' && !bearer) throw new ApiError(401);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messagesOf(body: unknown): MessagesRequest {
  if (body === undefined) throw new ApiError(400, 'The request body is not valid JSON');
  const result = messagesRequest.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new ApiError(400, `${issue?.path.join('.')}: ${issue?.message}`);
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
