import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  allowsTarget,
  type EgressPolicy,
  isException,
  parseAuthority,
  type Target,
} from './policy.ts';
import { type Lookup, resolveAllowed } from './resolve.ts';

/** Opens a connection to an address, never to a name. */
export type Connect = (to: { address: string; port: number; timeoutMs: number }) => Promise<Duplex>;

type DenialReason = 'policy' | 'unresolvable' | 'not_public' | 'method_not_allowed';

export interface Denial {
  host: string;
  port: number;
  reason: DenialReason;
}

interface ConnectProxyDeps {
  policy: EgressPolicy;
  exceptions: readonly string[];
  isPublic: (address: string) => boolean;
  /** `lookup` is for names from the sandbox, `lookupException` for names from the operator. */
  lookup: Lookup;
  lookupException: Lookup;
  connect: Connect;
  onDenied(denial: Denial): void;
  onClosed(tunnel: Target & { sentBytes: number; receivedBytes: number }): void;
}

const connectTimeoutMs = 10_000;

/**
 * Answers `CONNECT host:port`. The policy checks the name, the filter checks each of its addresses,
 * and the connection uses a checked address.
 */
export function createConnectProxy(deps: ConnectProxyDeps) {
  return async (authority: string, client: Duplex, head: Buffer): Promise<void> => {
    client.on('error', () => client.destroy());
    const target = parseAuthority(authority);
    if (target === null) return endWithError(client, 400, 'CONNECT requires host:port');
    const found = await findAddresses(deps, target);
    if (found.outcome === 'denied') {
      deps.onDenied({ ...target, reason: found.reason });
      return endWithError(
        client,
        403,
        `the network policy does not allow ${authority} (${found.reason})`,
      );
    }
    const upstream = await connectFirst(deps.connect, found.addresses, target.port);
    if (upstream === null) return endWithError(client, 502, `${authority} does not answer`);
    joinTunnel({ client, upstream, head }, (sentBytes, receivedBytes) =>
      deps.onClosed({ ...target, sentBytes, receivedBytes }),
    );
  };
}

export const connectDirectly: Connect = ({ address, port, timeoutMs }) =>
  new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port, allowHalfOpen: true, noDelay: true });
    socket.setKeepAlive(true, 60_000);
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), timeoutMs);
    socket.once('error', reject).once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      resolve(socket);
    });
  });

async function findAddresses(
  deps: ConnectProxyDeps,
  target: Target,
): Promise<
  { outcome: 'resolved'; addresses: string[] } | { outcome: 'denied'; reason: DenialReason }
> {
  if (!allowsTarget(deps.policy, target)) return { outcome: 'denied', reason: 'policy' };
  if (isException(deps.exceptions, target)) {
    return resolveAllowed(target.host, { lookup: deps.lookupException, allows: () => true });
  }
  return resolveAllowed(target.host, { lookup: deps.lookup, allows: deps.isPublic });
}

async function connectFirst(
  connect: Connect,
  addresses: string[],
  port: number,
): Promise<Duplex | null> {
  const tried = addresses.slice(0, 4);
  for (const address of tried) {
    const timeoutMs = connectTimeoutMs / tried.length;
    const socket = await connect({ address, port, timeoutMs }).catch(() => null);
    if (socket !== null) return socket;
  }
  return null;
}

function joinTunnel(
  { client, upstream, head }: { client: Duplex; upstream: Duplex; head: Buffer },
  onClosed: (sentBytes: number, receivedBytes: number) => void,
): void {
  let sentBytes = head.length;
  let receivedBytes = 0;
  client.on('data', (chunk: Buffer) => (sentBytes += chunk.length));
  upstream.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
  upstream.on('error', () => client.destroy());
  client.once('close', () => upstream.destroy());
  upstream.once('close', () => {
    client.destroy();
    onClosed(sentBytes, receivedBytes);
  });
  if (client.destroyed) return void upstream.destroy();
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream);
  upstream.pipe(client);
}

function endWithError(client: Duplex, status: 400 | 403 | 502, why: string): void {
  const reasons = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };
  client.end(
    `HTTP/1.1 ${status} ${reasons[status]}\r\nContent-Type: text/plain\r\n` +
      `Content-Length: ${Buffer.byteLength(why) + 1}\r\nConnection: close\r\n\r\n${why}\n`,
  );
}
