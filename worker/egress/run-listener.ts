import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { limits } from '../../core/limits.ts';
import type { ModelUpstream } from '../../core/model/model-upstream.ts';
import { isPublicAddress } from '../../lib/net/public-address.ts';
import { type Connect, connectDirectly, createConnectProxy, type Denial } from './connect-proxy.ts';
import { type ControlApi, type ControlHandlers, createControlApi } from './control-api.ts';
import type { ControlRefusal } from './control-limits.ts';
import { createGateway, type ModelProxy, type ModelRun } from './model/model-gateway.ts';
import type { EgressPolicy } from './policy.ts';
import { dnsLookup, type Lookup, systemLookup } from './resolve.ts';
import { createServiceGateway, type ServiceProxy } from './service-gateway.ts';

export interface EgressDeps {
  /** The API of the host's model. Null if the host has none. */
  modelUpstream: ModelUpstream | null;
  /** `host:port`, each reachable although its address is not public. */
  allowPrivate: readonly string[];
  /** The address of the API for agents that start runs. */
  apiUrl: string;
  onControlRefused?: (reason: ControlRefusal) => void;
  /** Replaced in tests, so that no packet leaves the machine. */
  lookup?: Lookup;
  lookupException?: Lookup;
  connect?: Connect;
}

export interface EgressHandlers extends ControlHandlers, Omit<ModelRun, 'policy'> {
  policy: EgressPolicy;
  /** The agent token, if the agent may start runs. It stays outside the sandbox. */
  agentToken: string | null;
  /** `count` is the number of denials of this target for this run, including this one. */
  onDenied(denial: Denial & { count: number }): void;
}

interface RunEgress {
  close(): Promise<void>;
}

/** One run's socket. */
interface RunListener extends RunEgress {
  /** Closes every open connection. */
  closeConnections(): void;
}

export interface Egress {
  /**
   * Serves one run on its own socket. The path is the identity: only the run's sandbox can dial it.
   */
  listen(socketPath: string, handlers: EgressHandlers): Promise<RunEgress>;
  /** Closes every run's connections and rejects new ones until unblocked. Safe to repeat. */
  block(): void;
  unblock(): void;
  close(): Promise<void>;
}

const deniedTargetsMax = 200;
const keepAliveMs = 10 * 60_000;

export function createEgress(deps: EgressDeps): Egress {
  const gateway = createGateway(deps.modelUpstream);
  const service = createServiceGateway(deps.apiUrl);
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
      const onDenied = createDenialLog(handlers);
      const model = gateway.forRun({ ...handlers, policy: handlers.policy.policy });
      const proxy = createConnectProxy({
        policy: handlers.policy,
        exceptions: deps.allowPrivate,
        isPublic: isPublicAddress,
        ...lookups,
        connect: deps.connect ?? connectDirectly,
        onDenied,
        onClosed: (tunnel) => logger.debug({ tunnel }, 'egress_closed'),
      });
      const mcp = service.forRun(handlers.agentToken, logger);
      const control = createControlApi(handlers, deps.onControlRefused);
      const server = createServer((request, response) => {
        serve({ model, mcp, control, onDenied }, request, response).catch((error: unknown) => {
          logger.warn({ err: error }, 'egress_request_failed');
          fail(response);
        });
      });
      // A failed accept (no free descriptor) affects this run, not the worker.
      server.on('error', (error) => logger.warn({ err: error }, 'egress_accept_failed'));
      server.on('connection', (socket) => void (isBlocked && socket.destroy()));
      const listener = await open({ server, socketPath, proxy });
      listeners.add(listener);
      return {
        async close() {
          await listener.close();
          listeners.delete(listener);
        },
      };
    },
    async close() {
      await Promise.all([gateway.close(), service.close()]);
    },
  };
}

interface Serving {
  model: ModelProxy;
  mcp: ServiceProxy;
  control: ControlApi;
  onDenied: (denial: Denial) => void;
}

async function serve(
  { model, mcp, control, onDenied }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '';
  if (!target.startsWith('/')) {
    onDenied({ ...targetOf(target), reason: 'method_not_allowed' });
    return endWith(response, 403);
  }
  if (target.startsWith('/model/')) {
    return model(request, response, target.slice('/model'.length));
  }
  if (target === '/mcp') return mcp(request, response);
  return control(request, response);
}

/** One log line and one count per target, so a sandbox can fill neither the log nor the memory. */
function createDenialLog(handlers: EgressHandlers): (denial: Denial) => void {
  const counts = new Map<string, number>();
  return (denial) => {
    const target = `${denial.host}:${denial.port}`;
    if (!counts.has(target) && counts.size >= deniedTargetsMax) return;
    const count = (counts.get(target) ?? 0) + 1;
    counts.set(target, count);
    if (count === 1) handlers.logger.info({ denial }, 'egress_denied');
    handlers.onDenied({ ...denial, count });
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
  server.maxConnections = limits.control.connectionsMax;
  // Longer than the agent's client keeps an idle connection, so the client closes it.
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
 * Replaces a socket that a previous process of this host has left. A closing server removes the
 * name that it was bound to. So it is bound to a random name and then renamed: a previous process
 * that was frozen cannot remove its successor's socket.
 */
async function listenAt(server: Server, socketPath: string): Promise<void> {
  const path = join(dirname(socketPath), randomBytes(3).toString('hex'));
  await new Promise<void>((resolve, reject) => {
    // The sandbox's user must write to it. Its folder belongs to root and is mounted read-only.
    const options = { path, readableAll: true, writableAll: true };
    server.once('error', reject).listen(options, resolve);
  });
  await rename(path, socketPath).catch((error: unknown) => {
    server.close();
    throw error;
  });
}

function targetOf(absoluteForm: string): { host: string; port: number } {
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
