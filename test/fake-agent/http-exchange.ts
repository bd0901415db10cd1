import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';

export interface Exchange {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  /** By the proxy of HTTPS_PROXY or HTTP_PROXY: a tunnel for https, the absolute form for http. */
  viaProxy: boolean;
  socketPath: string | undefined;
  signal: AbortSignal;
}

/** One request and its answer: the status on the first line, then the body. */
export async function exchange(url: URL, options: Exchange): Promise<string> {
  const { method, headers, socketPath, signal } = options;
  const isTls = url.protocol === 'https:';
  if (!options.viaProxy) {
    const target = socketPath === undefined ? {} : { socketPath };
    const ask = isTls ? httpsRequest : httpRequest;
    return answerOf(ask(url, { method, headers, signal, ...target }), options.body);
  }
  if (!isTls) {
    const { hostname, port } = proxy();
    const request = httpRequest({ host: hostname, port, method, headers, signal, path: url.href });
    return answerOf(request, options.body);
  }
  const { response, socket } = await openTunnel(`${url.hostname}:${url.port || '443'}`, signal);
  if (response.statusCode !== 200) return `${response.statusCode} from the proxy`;
  return answerOf(
    httpsRequest(url, {
      method,
      headers,
      signal,
      createConnection: () => connect({ socket, servername: url.hostname }),
    }),
    options.body,
  );
}

/** Asks the proxy for a tunnel; a refusal is an answer too. */
export function openTunnel(target: string, signal: AbortSignal): Promise<Tunnel> {
  const { hostname, port } = proxy();
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: hostname, port, method: 'CONNECT', path: target, signal });
    request.on('connect', (response: IncomingMessage, socket: Socket) =>
      resolve({ response, socket }),
    );
    request.on('error', reject).end();
  });
}

export interface Tunnel {
  response: IncomingMessage;
  socket: Socket;
}

function proxy(): URL {
  const address = process.env['HTTPS_PROXY'] ?? process.env['HTTP_PROXY'];
  if (address === undefined) throw new Error('neither HTTPS_PROXY nor HTTP_PROXY is set');
  return new URL(address);
}

function answerOf(request: ClientRequest, body: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        resolve(`${response.statusCode}\n${Buffer.concat(pieces).toString('utf8')}`);
      });
    });
    request.end(body);
  });
}
