// A small MCP server over either of the two remote transports. It runs in a test's process and, on
// plain Node, inside a sandbox, so it imports only Node's own modules.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface McpServerOptions {
  name: string;
  transport: 'http' | 'sse';
  host: string;
  port?: number;
  tls?: { cert: string; key: string };
}

export interface TestMcpServer {
  url: string;
  port: number;
  /** Every request: its method, path and headers. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

interface Message {
  id?: number | string;
  method: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

export async function startMcpServer(options: McpServerOptions): Promise<TestMcpServer> {
  const { name, transport, host, port = 0, tls } = options;
  const requests: TestMcpServer['requests'] = [];
  const streams = new Map<string, ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const answer = transport === 'http' ? answerDirectly : answerOnStream;
    answer({ name, requests, streams }, request, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${taken}/mcp`,
    port: taken,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Serving {
  name: string;
  requests: TestMcpServer['requests'];
  streams: Map<string, ServerResponse>;
}

/** Streamable HTTP: each response answers its request. */
async function answerDirectly(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const message = await readMessage(serving, request);
  if (message.id === undefined) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(reply(serving.name, message)));
}

/** The older transport: one stream of responses, and a URL for requests. */
async function answerOnStream(
  serving: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { searchParams } = new URL(request.url ?? '/', 'http://here');
  if (request.method === 'GET') {
    const id = `${serving.streams.size + 1}`;
    serving.streams.set(id, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.write(`event: endpoint\ndata: /mcp?stream=${id}\n\n`);
  }
  const message = await readMessage(serving, request);
  response.writeHead(202).end();
  if (message.id === undefined) return;
  const data = JSON.stringify(reply(serving.name, message));
  serving.streams.get(searchParams.get('stream') ?? '')?.write(`event: message\ndata: ${data}\n\n`);
}

async function readMessage({ requests }: Serving, request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const message = JSON.parse(Buffer.concat(chunks).toString()) as Message; // a client of the tests
  requests.push({ method: message.method, path: request.url ?? '', headers: request.headers });
  return message;
}

function reply(name: string, { id, method, params }: Message): object {
  return { jsonrpc: '2.0', id, result: resultOf(name, method, params) };
}

function resultOf(name: string, method: string, params: Message['params']): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name, version: '1.0.0' },
      };
    case 'tools/list': {
      const properties = { text: { type: 'string' } };
      const inputSchema = { type: 'object', properties };
      return { tools: ['echo', 'other'].map((tool) => ({ name: tool, inputSchema })) };
    }
    case 'tools/call':
      return { content: [{ type: 'text', text: `${name} heard ${params?.arguments?.text}` }] };
    default:
      return {};
  }
}
