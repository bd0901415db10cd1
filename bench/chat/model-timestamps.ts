import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** When the offline model, which lives in this process, was asked and had answered, by `Date.now()`. */
interface ModelWatch {
  /** Of the first call since then. */
  since(at: number): { modelAsked: number; modelAnswered: number };
  close(): void;
}

interface Call {
  asked: number;
  answered: number;
}

const started = 'http.server.request.start';

export function watchModel(): ModelWatch {
  const calls: Call[] = [];
  const note = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }; // Node's own
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return;
    const call: Call = { asked: Date.now(), answered: Number.NaN };
    calls.push(call);
    response.once('finish', () => {
      call.answered = Date.now();
    });
  };
  subscribe(started, note);
  return {
    since(at) {
      const call = calls.find(({ asked }) => asked >= at);
      return {
        modelAsked: call?.asked ?? Number.NaN,
        modelAnswered: call?.answered ?? Number.NaN,
      };
    },
    close: () => void unsubscribe(started, note),
  };
}
