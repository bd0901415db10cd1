import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { isPublicAddress } from '../../lib/net/public-address.ts';
import { type Connect, connectDirectly, createConnectProxy, type Denial } from './connect-proxy.ts';
import { type ControlHandlers, handleControl } from './control-api.ts';
import {
  createGateway,
  type ModelProxy,
  type ModelUpstream,
  type ProjectModelSource,
} from './model-gateway.ts';
import type { EgressPolicy } from './policy.ts';
import { dnsLookup, type Lookup, systemLookup } from './resolve.ts';

export interface EgressDeps {
  model: ModelUpstream;
  /** `host:port`, each reachable although its address is not public. */
  allowPrivate: readonly string[];
  /** Tests put a resolver and a spy here, so that no packet leaves the machine. */
  lookup?: Lookup;
  lookupException?: Lookup;
  connect?: Connect;
}

export interface EgressHandlers extends ControlHandlers {
  /** What it says leads to the run. */
  logger: Logger;
  policy: EgressPolicy;
  /** The model that the run's project pays for; null: the service's. */
  projectModel: ProjectModelSource;
  /** `count` is how often this place was refused to this run, this time included. */
  onDenied(refusal: Denial & { count: number }): void;
}

export interface RunEgress {
  close(): Promise<void>;
}

/** One run's socket, for whoever looks after all of them. */
interface RunListener extends RunEgress {
  /** Ends every connection that there is. */
  closeConnections(): void;
}

export interface Egress {
  /** Serves one run on its own socket. The path is the identity: whoever can dial it is the run. */
  listen(socketPath: string, handlers: EgressHandlers): Promise<RunEgress>;
  /** Cuts every connection of every run and lets none in, until it is reopened. Safe to repeat. */
  block(): void;
  unblock(): void;
  close(): Promise<void>;
}

const connectionsMax = 256;
const deniedTargetsMax = 200;
const keepAliveMs = 10 * 60_000;

export function createEgress(deps: EgressDeps): Egress {
  const gateway = createGateway(deps.model);
  const lookups = {
    lookup: deps.lookup ?? dnsLookup(),
    lookupException: deps.lookupException ?? systemLookup,
  };
  const listeners = new Set<RunListener>();
  let isBlocked = false;
  return {
    block() {
      isBlocked = true;
      for (const listener of listeners) listener.closeConnections();
    },
    unblock() {
      isBlocked = false;
    },
    async listen(socketPath, handlers) {
      const { logger } = handlers;
      const onRefused = createDenialLog(handlers);
      const model = gateway.forRun(handlers.projectModel);
      const proxy = createConnectProxy({
        policy: handlers.policy,
        exceptions: deps.allowPrivate,
        isPublic: isPublicAddress,
        ...lookups,
        connect: deps.connect ?? connectDirectly,
        onDenied: onRefused,
        onClosed: (tunnel) => logger.debug({ tunnel }, 'egress_closed'),
      });
      const server = createServer((request, response) => {
        serve({ model, handlers, onRefused }, request, response).catch((error: unknown) => {
          logger.warn({ err: error }, 'egress_request_failed');
          fail(response);
        });
      });
      // An accept that fails (no descriptor left, say) is this run's trouble, not the worker's end.
      server.on('error', (error) => logger.warn({ err: error }, 'egress_accept_failed'));
      server.on('connection', (socket) => void (isBlocked && socket.destroy()));
      const door = await open({ server, socketPath, proxy });
      listeners.add(door);
      return {
        async close() {
          await door.close();
          listeners.delete(door);
        },
      };
    },
    close: () => gateway.close(),
  };
}

interface Serving {
  model: ModelProxy;
  handlers: EgressHandlers;
  onRefused: (refusal: Denial) => void;
}

async function serve(
  { model, handlers, onRefused }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '';
  if (!target.startsWith('/')) {
    onRefused({ ...placeOf(target), reason: 'method_not_allowed' });
    return endWith(response, 403);
  }
  if (target.startsWith('/model/')) {
    return model(request, response, target.slice('/model'.length));
  }
  if (!(await handleControl(handlers, request, response))) endWith(response, 404);
}

/** One log line for each place, and a count; a sandbox cannot fill the log or the memory. */
function createDenialLog(handlers: EgressHandlers): (refusal: Denial) => void {
  const counts = new Map<string, number>();
  return (refusal) => {
    const place = `${refusal.host}:${refusal.port}`;
    if (!counts.has(place) && counts.size >= deniedTargetsMax) return;
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    if (count === 1) handlers.logger.info({ refusal }, 'egress_refused');
    handlers.onDenied({ ...refusal, count });
  };
}

async function open({
  server,
  socketPath,
  proxy,
}: {
  server: Server;
  socketPath: string;
  proxy: (authority: string, client: Duplex, head: Buffer) => Promise<void>;
}): Promise<RunListener> {
  const tunnels = new Set<Duplex>();
  server.maxConnections = connectionsMax;
  // Longer than the agent's client keeps an idle connection, so that it is the one to close it.
  server.keepAliveTimeout = keepAliveMs;
  server.on('connect', (request, client, head) => {
    tunnels.add(client);
    client.once('close', () => tunnels.delete(client));
    proxy(request.url ?? '', client, head).catch(() => client.destroy());
  });
  server.on('clientError', (_error, client) => client.destroy());
  await listenAt(server, socketPath);
  const cut = (): void => {
    server.closeAllConnections();
    for (const client of tunnels) client.destroy();
  };
  return {
    closeConnections: cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/**
 * Takes the place of a socket that an earlier life of this host has left. A server that closes removes
 * the name which it was bound to, whoever has that by then: it is another than the one that is dialled,
 * so that a process which was frozen, and is followed by another, takes nothing from it.
 */
async function listenAt(server: Server, socketPath: string): Promise<void> {
  const path = join(dirname(socketPath), randomBytes(3).toString('hex'));
  await new Promise<void>((resolve, reject) => {
    // The sandbox's user has to write to it; its folder belongs to root and is mounted read-only.
    const place = { path, readableAll: true, writableAll: true };
    server.once('error', reject).listen(place, resolve);
  });
  await rename(path, socketPath).catch((error: unknown) => {
    server.close();
    throw error;
  });
}

function placeOf(absoluteForm: string): { host: string; port: number } {
  const url = URL.canParse(absoluteForm) ? new URL(absoluteForm) : null;
  return { host: url?.hostname.slice(0, 253) ?? '', port: Number(url?.port || 80) };
}

function endWith(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' }).end();
}

function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else endWith(response, 500);
}
