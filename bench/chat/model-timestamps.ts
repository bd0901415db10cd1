import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Times of the requests to the offline model, which runs in this process, by `Date.now()`. */
interface ModelWatch {
  /** The times of the first call at or after `at`. */
  since(at: number): { modelAsked: number; modelAnswered: number };
  close(): void;
}

interface Call {
  requestedAt: number;
  answeredAt: number;
}

const started = 'http.server.request.start';

export function watchModel(): ModelWatch {
  const calls: Call[] = [];
  const recordCall = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }; // documented by Node
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return;
    const call: Call = { requestedAt: Date.now(), answeredAt: Number.NaN };
    calls.push(call);
    response.once('finish', () => {
      call.answeredAt = Date.now();
    });
  };
  subscribe(started, recordCall);
  return {
    since(at) {
      const call = calls.find(({ requestedAt }) => requestedAt >= at);
      return {
        modelAsked: call?.requestedAt ?? Number.NaN,
        modelAnswered: call?.answeredAt ?? Number.NaN,
      };
    },
    close: () => void unsubscribe(started, recordCall),
  };
}
