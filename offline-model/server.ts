import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendError } from './api-error.ts';
import { createAttempts } from './attempts.ts';
import type { RecordedRequest } from './request.ts';
import { route } from './route.ts';
import { readScript, type Script, type Step } from './script.ts';

interface OfflineModelOptions {
  /** The default, 0, chooses a free port. */
  port?: number;
  host?: string;
  /** Called with one line per request. */
  log?: (line: string) => void;
  /** Pause between two deltas of a stream. */
  deltaMs?: number;
  /** The number of latest requests that `requests` returns. */
  keepRequests?: number;
}

export interface OfflineModel {
  url: string;
  requests(): readonly RecordedRequest[];
  /** Sets the script for prompts without one. Undefined removes it. */
  script(script: Script | undefined): void;
  close(): Promise<void>;
}

export async function startOfflineModel(options: OfflineModelOptions = {}): Promise<OfflineModel> {
  const { port = 0, host = '127.0.0.1', log = () => {}, deltaMs = 0, keepRequests = 500 } = options;
  const recent: RecordedRequest[] = [];
  const attempts = createAttempts();
  let fallbackScript: readonly Step[] | undefined;

  const server = createServer((request, response) => {
    response.on('close', () => log(`${request.method} ${request.url} ${response.statusCode}`));
    const record = (recorded: RecordedRequest) => {
      recent.push(recorded);
      if (recent.length > keepRequests) recent.shift();
    };
    route(request, response, { attempts, deltaMs, record, fallbackScript }).catch((error) =>
      sendError(response, error),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  // a listening TCP server has such an address
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    requests: () => [...recent],
    script: (script) => {
      fallbackScript = script === undefined ? undefined : readScript(script);
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
