import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import { forKeysAndAgents } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { withClientSignal } from '../http/client-signal.ts';
import { noQuery } from '../runs/run-schema.ts';
import { errors } from '../schemas/envelope.ts';
import { jsonValue } from '../schemas/text.ts';
import { createCallApi } from './call-api.ts';
import { createEndingCalls } from './ending-calls.ts';
import { createMcpServer } from './mcp-server.ts';

/** Responses are not accepted, because the server sends no requests to its clients. */
const message = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).optional(),
  method: z.string().min(1),
  params: z.record(z.string(), z.unknown()).optional(),
});
const rpcResponse = jsonValue().meta({
  description: 'A JSON-RPC response.',
});

const schema = {
  summary: 'Model Context Protocol, for agents that use flows as tools',
  description:
    'Stateless Streamable HTTP. Each tool calls routes of this API with the key of the request. These calls count against the rate limit of the key, like the request.',
  querystring: noQuery,
  body: message,
  response: {
    200: rpcResponse,
    202: z.null().meta({ description: 'The notification was accepted.' }),
    ...errors(400, 401, 403, 413, 415, 429, 500, 503),
  },
};

const paths = [
  { path: '/api/v1/mcp', operationId: 'mcp' },
  // For clients that are configured with the address of the service only.
  { path: '/mcp', operationId: 'mcpAtShortPath' },
] as const;

/**
 * Serves flows as tools. Each request has a new MCP server, so any process can answer any request.
 */
export function mcp(
  app: App,
  { publicUrl }: Pick<ApiDeps, 'publicUrl'>,
  closing: AbortSignal,
): void {
  const config = forKeysAndAgents('read', 'run', 'chat');
  const bodyLimit = limits.http.mediumBodyMaxBytes;
  const url = `${publicUrl}${paths[0].path}`;
  const endingCalls = createEndingCalls(app);
  for (const { path, operationId } of paths) {
    const described = { ...schema, operationId };
    app.post(path, { config, schema: described, bodyLimit }, async (request, reply) => {
      const answer = await withClientSignal(reply, closing, async (signal) => {
        const of = { signal, toolCallId: toolCallIdOf(request), endingCalls };
        const callApi = createCallApi(app, request, of);
        const isAgent = (request.caller?.agent ?? null) !== null;
        const createServer = () => createMcpServer(callApi, request.body, { isAgent });
        const handler = createMcpHandler(createServer, {
          maxSubscriptions: 0, // changes of tools would have to be announced by all processes
          onerror: (err) => request.log.info({ err }, 'mcp_request_rejected'),
        });
        const parsed = { parsedBody: request.body };
        const response = await handler.fetch(toWebRequest(request, url), parsed);
        // A tool works until the body of the response ends.
        return { status: response.status, text: await response.text() };
      });
      return sendAnswer(reply, answer);
    });
  }
}

/**
 * Names the tool call of an agent, so that a repeated request starts no second run: the agent's own
 * ID of the call, or that of the request that its host may have to repeat. Null for other clients,
 * whose IDs may come from several agents.
 */
function toolCallIdOf({
  caller,
  body: { params = {} },
  headers,
}: FastifyRequest<{ Body: z.infer<typeof message> }>): string | null {
  if ((caller?.agent ?? null) === null) return null;
  const { _meta: meta } = params as { _meta?: Record<string, unknown> };
  const ids = [meta?.['claudecode/toolUseId'], headers['idempotency-key']];
  return (
    ids.find((id): id is string => typeof id === 'string' && /^[\x21-\x7e]{1,100}$/.test(id)) ??
    null
  );
}

/**
 * Has only the headers that the protocol defines. The body has already been parsed. The protocol
 * requires `Accept`, but this service does not.
 */
function toWebRequest({ headers }: FastifyRequest, url: string): Request {
  const names = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
  const sent = names.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  const accept: [string, string] = ['accept', 'application/json, text/event-stream'];
  return new Request(url, { method: 'POST', headers: [accept, ...sent] });
}

function sendAnswer(
  reply: FastifyReply,
  { status, text }: { status: number; text: string },
): FastifyReply {
  reply.code(status);
  if (text === '') return reply.send();
  return reply.type('application/json; charset=utf-8').send(messageIn(text));
}

/** The library sends some responses as a stream of one event. Every client accepts JSON. */
const messageIn = (text: string): string => /^data: (.*)$/m.exec(text)?.[1] ?? text;
