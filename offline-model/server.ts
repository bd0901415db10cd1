import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendError } from './api-error.ts';
import { createAttempts } from './attempts.ts';
import { route } from './route.ts';
import { readScript, type Script, type Step } from './script.ts';

export interface RecordedRequest {
  method: string;
  /** Path with its query. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body; undefined where there was none or it was no JSON. */
  body: unknown;
}

interface OfflineModelOptions {
  /** 0, the default, takes a free port. */
  port?: number;
  host?: string;
  /** Told one line a request. */
  log?: (line: string) => void;
  /** Pause between two deltas of a stream. */
  deltaMs?: number;
  /** How many of the latest requests are kept to be looked at. */
  keepRequests?: number;
}

export interface OfflineModel {
  url: string;
  requests(): readonly RecordedRequest[];
  /** Answers by this script wherever a prompt has none; undefined takes it away. */
  script(script: Script | undefined): void;
  close(): Promise<void>;
}

export async function startOfflineModel(options: OfflineModelOptions = {}): Promise<OfflineModel> {
  const { port = 0, host = '127.0.0.1', log = () => {}, deltaMs = 0, keepRequests = 500 } = options;
  const kept: RecordedRequest[] = [];
  const attempts = createAttempts();
  let fallbackScript: readonly Step[] | undefined;

  const server = createServer((request, response) => {
    response.on('close', () => log(`${request.method} ${request.url} ${response.statusCode}`));
    const record = (recorded: RecordedRequest) => {
      kept.push(recorded);
      if (kept.length > keepRequests) kept.shift();
    };
    route(request, response, { attempts, deltaMs, record, fallbackScript }).catch((error) =>
      sendError(response, error),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  // A TCP server that is listening has an address of this kind.
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    requests: () => [...kept],
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
