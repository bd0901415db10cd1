import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxConfig } from '../../core/sandbox/sandbox-config.ts';
import { type ControlLimits, type ControlRefusal, createControlLimits } from './control-limits.ts';
import { createLargeBodyPacer, type Pacer } from './model/large-body-pacer.ts';

/** The answer to a request for the message after an index. */
export type NextMessage =
  | { kind: 'message'; index: number; line: string }
  | { kind: 'closed' }
  | { kind: 'none' };

/** The requests that the entry program in the sandbox can make. */
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

const bodyMaxBytes = 4_096;
const indexMax = 1_000_000_000;

/** Answers `/control/…`. */
export type ControlApi = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves one sandbox. The entry program retries a request that is refused. */
export function createControlApi(
  handlers: ControlHandlers,
  countRefusal?: (reason: ControlRefusal) => void,
): ControlApi {
  const bounds = createControlLimits(countRefusal);
  const pace = createLargeBodyPacer();
  return async (request, response) => {
    const exchange = { request, response, bounds, pace };
    const refused = await bounds.admit(() => route(handlers, exchange));
    if (refused !== null) response.writeHead(refused, { connection: 'close' }).end();
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  bounds: ControlLimits;
  /**
   * Encoding a long message blocks the thread that serves all sandboxes, like parsing a long body.
   */
  pace: Pacer;
}

async function route(handlers: ControlHandlers, exchange: Exchange): Promise<void> {
  const { request } = exchange;
  const url = new URL(request.url ?? '/', 'http://socket');
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /control/config': {
      const config = await handlers.config();
      return answer(exchange, config === null ? 410 : 200, config);
    }
    case 'POST /control/config/ack':
      await drain(request);
      return answer(exchange, (await handlers.acknowledge()) ? 204 : 410, null);
    case 'GET /control/messages':
      return answerMessage(handlers, exchange, indexOf(url));
    case 'POST /control/exit':
      await drain(request);
      handlers.exited();
      return answer(exchange, 204, null);
    default:
      return answer(exchange, 404, null);
  }
}

async function answerMessage(
  handlers: ControlHandlers,
  exchange: Exchange,
  after: number,
): Promise<void> {
  const signal = exchange.bounds.beginPoll(exchange.response);
  const next = await handlers.nextMessage(after, signal);
  switch (next.kind) {
    case 'message':
      return answerLine(exchange, next);
    case 'closed':
      return answer(exchange, 200, { closed: true });
    case 'none':
      return answer(exchange, 204, null);
  }
}

/** Bounded, because later messages are numbered above the highest requested index. */
function indexOf(url: URL): number {
  const after = Number(url.searchParams.get('after') ?? 0);
  return Number.isInteger(after) && after >= 0 ? Math.min(after, indexMax) : 0;
}

/** Checks the bound before the costly encoding, which only makes the line longer. */
async function answerLine(
  exchange: Exchange,
  { index, line }: { index: number; line: string },
): Promise<void> {
  if (!exchange.bounds.hasRoom(line.length)) return answer(exchange, 503, null);
  const text = await exchange.pace(line.length, () => JSON.stringify({ index, line }));
  answerText(exchange, 200, text);
}

function answer(exchange: Exchange, status: number, body: object | null): void {
  if (body === null) return void exchange.response.writeHead(status).end();
  answerText(exchange, status, JSON.stringify(body));
}

function answerText({ response, bounds }: Exchange, status: number, text: string): void {
  if (!bounds.reserve(response, Buffer.byteLength(text))) {
    return void response.writeHead(503, { connection: 'close' }).end();
  }
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(text);
}

async function drain(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyMaxBytes) throw new Error('body too long');
  }
}
