import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stackEnv } from './stack-env.ts';
import { webhookError } from './webhook-error.ts';

export interface ReceivedPost {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  at: number;
}

/** An https server on loopback that records the requests it receives. */
export interface WebhookReceiver {
  url: string;
  /** Throws if one of them did not match its schema. */
  posts: ReceivedPost[];
  caFile: string;
  close(): Promise<void>;
}

export type Behaviour = (response: ServerResponse, post: ReceivedPost) => void;

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end('ok');

/** `errorOf`: the error of a request, or null. By default it must be a described webhook. */
export async function startReceiver(
  behave: Behaviour = answerWith(204),
  errorOf: (post: ReceivedPost) => Error | null = webhookError,
): Promise<WebhookReceiver> {
  const posts: ReceivedPost[] = [];
  let undescribed: Error | null = null;
  const file = (name: string): string => join(stackEnv.caDir, name);
  const server = createServer(
    { key: readFileSync(file('server.key')), cert: readFileSync(file('server.crt')) },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const path = request.url ?? '';
        const post = { path, headers: request.headers, body, at: performance.now() };
        posts.push(post);
        undescribed ??= errorOf(post);
        behave(response, post);
      });
    },
  );
  const port = await listen(server);
  return {
    url: `https://localhost:${port}`,
    get posts() {
      if (undescribed !== null) throw undescribed;
      return posts;
    },
    caFile: file('ca.crt'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
