import { type IncomingMessage, request } from 'node:http';

const responseMaxBytes = 64 * 1024 * 1024;

export interface HostCall {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

export interface HostResponse {
  status: number;
  body: string;
}

/** Sends one request over the run's socket. Rejects on a connection error or when aborted. */
export function callHost(
  socketPath: string,
  { method, path, body = '' }: HostCall,
  signal: AbortSignal,
): Promise<HostResponse> {
  const headers = body === '' ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, signal, agent: false });
    sent.on('response', (response) => {
      readAll(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, body: text }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > responseMaxBytes)
      throw new Error(`the host's response exceeds ${responseMaxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
