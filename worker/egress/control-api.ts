import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxConfig } from '../../core/sandbox/sandbox-config.ts';

/** The answer to a request for the message after an index. */
export type NextMessage =
  | { kind: 'message'; index: number; line: string }
  | { kind: 'closed' }
  | { kind: 'none' };

/** What the entry program in the sandbox can request. */
export interface ControlHandlers {
  /** Null once it was acknowledged. */
  config(): Promise<SandboxConfig | null>;
  /** False if the agent must not start, because a later sandbox runs it. */
  acknowledge(): Promise<boolean>;
  /** Returns the first message after this index. Waits for one until the signal. */
  nextMessage(after: number, signal: AbortSignal): Promise<NextMessage>;
  /** Only a hint, because every process in the sandbox can send it. */
  exited(): void;
}

const longPollMs = 25_000;
const bodyMaxBytes = 4_096;
const indexMax = 1_000_000_000;

/** Answers `/control/…`. Returns false for any other path. */
export async function handleControlApi(
  handlers: ControlHandlers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const url = new URL(request.url ?? '/', 'http://socket');
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /control/config': {
      const config = await handlers.config();
      answer(response, config === null ? 410 : 200, config);
      return true;
    }
    case 'POST /control/config/ack':
      await drain(request);
      answer(response, (await handlers.acknowledge()) ? 204 : 410, null);
      return true;
    case 'GET /control/messages':
      await answerMessage(handlers, response, indexOf(url));
      return true;
    case 'POST /control/exit':
      await drain(request);
      handlers.exited();
      answer(response, 204, null);
      return true;
    default:
      return false;
  }
}

async function answerMessage(
  handlers: ControlHandlers,
  response: ServerResponse,
  after: number,
): Promise<void> {
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(), longPollMs);
  response.once('close', () => gone.abort());
  const next = await handlers.nextMessage(after, gone.signal);
  clearTimeout(timer);
  switch (next.kind) {
    case 'message':
      return answer(response, 200, { index: next.index, line: next.line });
    case 'closed':
      return answer(response, 200, { closed: true });
    case 'none':
      return answer(response, 204, null);
  }
}

/** Bounded, because later messages are numbered above the highest requested index. */
function indexOf(url: URL): number {
  const after = Number(url.searchParams.get('after') ?? 0);
  return Number.isInteger(after) && after >= 0 ? Math.min(after, indexMax) : 0;
}

function answer(response: ServerResponse, status: number, body: object | null): void {
  if (body === null) return void response.writeHead(status).end();
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function drain(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyMaxBytes) throw new Error('body too long');
  }
}
