import { type IncomingMessage, request } from 'node:http';

const answerMaxBytes = 64 * 1024 * 1024;

export interface HostCall {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

export interface HostResponse {
  status: number;
  body: string;
}

/** One request over the run's socket; rejects when nobody is there, or when `signal` says so. */
export function callHost(
  socketPath: string,
  { method, path, body = '' }: HostCall,
  signal: AbortSignal,
): Promise<HostResponse> {
  const headers = body === '' ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, signal, agent: false });
    sent.on('response', (answer) => {
      readAll(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, body: text }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerMaxBytes)
      throw new Error(`the host's answer is over ${answerMaxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
