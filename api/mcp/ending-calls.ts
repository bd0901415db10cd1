import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { App } from '../app-types.ts';

/** Ends the requests of tools to this API. Aborting an injection alone would not end its route. */
export interface EndingCalls {
  /** Makes a request with these headers. It rejects when the signal aborts. */
  run<T>(signal: AbortSignal, request: (headers: Record<string, string>) => Promise<T>): Promise<T>;
}

/** Its value identifies a request in progress, and only this process knows it. */
const header = 'x-tool-request';

export function createEndingCalls(app: App): EndingCalls {
  const started = new Map<string, (response: ServerResponse) => void>();
  app.addHook('onRequest', async ({ headers }, reply) => {
    started.get(String(headers[header]))?.(reply.raw);
  });
  return {
    async run(signal, request) {
      const id = randomUUID();
      let response: ServerResponse | null = null;
      // A response that is closed ends its route, like that of a client that disconnects.
      const end = () => void response?.destroy();
      started.set(id, (begun) => {
        response = begun;
        if (signal.aborted) end();
      });
      signal.addEventListener('abort', end);
      try {
        return await request({ [header]: id });
      } finally {
        signal.removeEventListener('abort', end);
        started.delete(id);
      }
    },
  };
}
