import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

/** Makes one request over a unix socket, as the sandbox does. */
export async function callSocket(socketPath: string, call: Call): Promise<Answer> {
  const response = await openCall(socketPath, call);
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** Makes one request and returns when the response headers have arrived. */
export function openCall(socketPath: string, call: Call): Promise<IncomingMessage> {
  const { method = 'GET', path, headers = {}, body, signal } = call;
  return new Promise((resolve, reject) => {
    const options = { socketPath, method, path, headers, agent: false, ...(signal && { signal }) };
    request(options, resolve).once('error', reject).end(body);
  });
}

/** Sends raw bytes. Resolves with the connection and the response headers. */
export async function sendRaw(
  socketPath: string,
  text: string,
): Promise<{ socket: Socket; status: number; rest: string }> {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  socket.write(text);
  let read = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    read += String(chunk);
    if (read.includes('\r\n\r\n')) break;
  }
  const [head = '', rest = ''] = read.split('\r\n\r\n', 2);
  return { socket, status: Number(head.split(' ')[1]), rest };
}

export const connectLine = (authority: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
