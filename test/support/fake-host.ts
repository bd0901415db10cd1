import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { SandboxConfig } from '../../core/sandbox/sandbox-config.ts';

/**
 * The host's side of a run's socket, in memory. It can stop and start like a worker that is killed
 * and restarted. Its data about the run survives that, as in the database.
 */
export interface FakeHost {
  requests: string[];
  exits: unknown[];
  lastResponseAt(): number;
  isAcknowledged(): boolean;
  push(line: string): void;
  closeInput(): void;
  up(): Promise<void>;
  down(): Promise<void>;
  /** Replaces the response to the next request for this path. */
  once(path: string, answer: (response: ServerResponse) => void): void;
  /** Handles requests to the model gateway and the proxy. */
  onOther(handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  untilRequested(path: string): Promise<void>;
}

interface FakeHostOptions {
  socket: string;
  config?: Partial<SandboxConfig>;
  /** How long a poll waits for a message. */
  pollMs?: number;
}

export function fakeHost({ socket, config = {}, pollMs = 1_000 }: FakeHostOptions): FakeHost {
  const lines: string[] = [];
  const requests: string[] = [];
  const exits: unknown[] = [];
  const overrides = new Map<string, (response: ServerResponse) => void>();
  const waiting = new Set<() => void>();
  let lastResponseAt = 0;
  let acknowledged = false;
  let closed = false;
  let server: Server | null = null;
  let other = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(404).end();
  };
  const notifyAll = (): void => {
    for (const look of [...waiting]) look();
  };

  async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        waiting.delete(look);
        resolve();
      };
      const look = (): void => void (condition() && stop());
      const timer = setTimeout(stop, timeoutMs);
      waiting.add(look);
    });
  }

  async function answerPoll(after: number, response: ServerResponse): Promise<void> {
    await until(() => lines.length > after || closed, pollMs);
    const line = lines[after];
    if (line !== undefined) return void response.end(JSON.stringify({ index: after + 1, line }));
    if (closed) return void response.end(JSON.stringify({ closed: true }));
    response.writeHead(204).end();
  }

  async function readJson(request: IncomingMessage): Promise<unknown> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    return JSON.parse(text);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    response.on('finish', () => {
      lastResponseAt = performance.now();
    });
    notifyAll();
    const override = overrides.get(url.pathname);
    overrides.delete(url.pathname);
    if (override !== undefined) return override(response);
    if (url.pathname === '/control/config') {
      if (acknowledged) return void response.writeHead(410).end();
      return void response.end(JSON.stringify({ args: [], env: {}, files: [], ...config }));
    }
    if (url.pathname === '/control/config/ack') acknowledged = true;
    else if (url.pathname === '/control/exit') exits.push(await readJson(request));
    else if (url.pathname === '/control/messages') {
      return answerPoll(Number(url.searchParams.get('after')), response);
    } else return other(request, response);
    response.writeHead(204).end();
  }

  async function up(): Promise<void> {
    rmSync(socket, { force: true });
    const created = createServer((request, response) => void handle(request, response));
    created.on('connect', (request, client) => {
      requests.push(`CONNECT ${request.url}`);
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((resolve) => created.listen(socket, resolve));
    chmodSync(socket, 0o666);
    server = created;
  }

  async function down(): Promise<void> {
    const previous = server;
    server = null;
    if (previous === null) return;
    previous.closeAllConnections();
    await new Promise<void>((resolve) => previous.close(() => resolve()));
  }

  return {
    requests,
    exits,
    up,
    down,
    lastResponseAt: () => lastResponseAt,
    isAcknowledged: () => acknowledged,
    push: (line) => {
      lines.push(line);
      notifyAll();
    },
    closeInput: () => {
      closed = true;
      notifyAll();
    },
    once: (path, answer) => void overrides.set(path, answer),
    onOther: (handler) => {
      other = handler;
    },
    untilRequested: async (path) => {
      await until(() => requests.some((line) => line.includes(path)), 30_000);
      if (!requests.some((line) => line.includes(path))) throw new Error(`no request for ${path}`);
    },
  };
}
