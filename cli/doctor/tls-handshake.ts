// Tries a TLS handshake with the configured certificates. After a failed handshake a store's own
// client often reports only a closed connection or a timeout.

import { Buffer } from 'node:buffer';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface HandshakeTarget {
  host: string;
  port: number;
  /** The configured certificates; null if TLS is not configured. */
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'> | null;
  /** In Postgres' protocol the client requests TLS before the handshake. */
  protocol: 'postgres' | 'redis' | 'h2';
}

export interface HandshakeFailure {
  kind: 'untrusted' | 'expired' | 'name_mismatch' | 'refused' | 'no_tls' | 'only_tls';
  detail: string;
}

const responseWithinMs = 4_000;
/**
 * A server may reject the client's certificate shortly after the client considers itself connected.
 */
const rejectionWithinMs = 500;

/** Null if the handshake succeeds, or if nothing listens at the address. */
export async function tryHandshake(target: HandshakeTarget): Promise<HandshakeFailure | null> {
  const socket = connect(target.port, target.host);
  const timer = setTimeout(() => socket.destroy(), responseWithinMs + rejectionWithinMs);
  try {
    if (!(await opens(socket))) return null;
    if (target.tls === null)
      return target.protocol === 'postgres' ? null : await probeTlsOnly(target);
    if (target.protocol === 'postgres' && !(await acceptsTls(socket)))
      return { kind: 'no_tls', detail: 'the server declines it' };
    return await performHandshake(socket, target, target.tls);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

const opens = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.on('error', () => resolve(false)).on('close', () => resolve(false));
  });

/** Postgres' SSLRequest message; the server responds with one letter. */
const tlsRequest = Buffer.from('0000000804d2162f', 'hex');

const acceptsTls = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.write(tlsRequest);
    socket.once('data', (answer) => resolve(answer.toString() === 'S'));
    socket.once('close', () => resolve(true)); // closed without a response
  });

async function probeTlsOnly({
  host,
  port,
  protocol,
}: HandshakeTarget): Promise<HandshakeFailure | null> {
  const tls = { rejectUnauthorized: false };
  const problem = await tryHandshake({ host, port, protocol, tls });
  const hasTls = problem === null || problem.kind === 'refused';
  return hasTls ? { kind: 'only_tls', detail: 'the server accepts a TLS handshake' } : null;
}

function performHandshake(
  socket: Socket,
  { host, protocol }: HandshakeTarget,
  tls: NonNullable<HandshakeTarget['tls']>,
): Promise<HandshakeFailure | null> {
  return new Promise((resolve) => {
    const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined);
    const protocols = protocol === 'h2' ? { ALPNProtocols: ['h2'] } : {};
    const named = servername === undefined ? {} : { servername };
    const secure = connectTls({ socket, host, ...protocols, ...tls, ...named });
    let isConnected = false;
    secure.once('secureConnect', () => {
      isConnected = true;
      setTimeout(() => resolve(null), rejectionWithinMs);
    });
    secure.on('data', () => undefined);
    secure.on('error', (error: NodeJS.ErrnoException) => resolve(failureOf(error, isConnected)));
    secure.once('close', () => resolve(isConnected ? closed : noResponse));
    setTimeout(() => resolve(isConnected ? null : noResponse), responseWithinMs).unref();
  });
}

const closed: HandshakeFailure = {
  kind: 'refused',
  detail: 'the server closes the connection after the handshake',
};
const noResponse: HandshakeFailure = { kind: 'no_tls', detail: 'no response to a TLS handshake' };

function failureOf(error: NodeJS.ErrnoException, isConnected: boolean): HandshakeFailure {
  const code = error.code ?? '';
  // OpenSSL's message contains source positions; its reason is readable.
  const detail = 'reason' in error && code !== nameMismatch ? String(error.reason) : error.message;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return { kind: 'expired', detail };
  if (code === nameMismatch) return { kind: 'name_mismatch', detail };
  if (untrusted.has(code)) return { kind: 'untrusted', detail };
  if (isConnected || code.includes('_ALERT_')) return { kind: 'refused', detail };
  return { kind: 'no_tls', detail };
}

const nameMismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
]);
