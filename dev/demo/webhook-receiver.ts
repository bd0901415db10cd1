// A webhook receiver as a client of the service would run it: a small HTTPS server that verifies
// the signature over the bytes of the body.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Authority } from '../stack/servers/authority.ts';

const toleranceSeconds = 300;
const bodyMaxBytes = 1024 * 1024;

export interface Delivery {
  body: string;
  signature: string;
}

interface WebhookReceiver {
  url: string;
  /** The first delivery. */
  received: Promise<Delivery>;
  close: () => void;
}

export async function startReceiver(
  authority: Authority,
  host = '127.0.0.1',
): Promise<WebhookReceiver> {
  const { promise: received, resolve } = withResolver<Delivery>();
  const server = createServer(
    { cert: readFileSync(authority.certificate), key: readFileSync(authority.key) },
    (request, answer) => {
      readBody(request).then(
        (body) => {
          answer.writeHead(204).end();
          resolve({ body, signature: String(request.headers['x-service-signature']) });
        },
        () => answer.writeHead(400).end(),
      );
    },
  );
  await new Promise<void>((done) => {
    server.listen(0, host, done);
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  const close = () => {
    server.close().closeAllConnections();
  };
  return { url: `https://localhost:${port}/webhook`, received, close };
}

/** Whether the signature was made recently with this secret over these bytes. */
export function isGenuine({ body, signature }: Delivery, secret: string): boolean {
  const [, seconds, signed] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (seconds === undefined || signed === undefined) return false;
  const expected = createHmac('sha256', secret).update(`${seconds}.${body}`).digest();
  const isRecent = Math.abs(Date.now() / 1000 - Number(seconds)) <= toleranceSeconds;
  return isRecent && timingSafeEqual(expected, Buffer.from(signed, 'hex'));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyMaxBytes) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function withResolver<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
