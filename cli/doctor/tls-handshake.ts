// A TLS handshake, tried from here with what the settings give: a store's own client often says of a
// failed one no more than that the connection was cut, or that no answer came in time.

import { Buffer } from 'node:buffer';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface HandshakeTarget {
  host: string;
  port: number;
  /** What is trusted and what is shown; null where the settings ask for no TLS. */
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'> | null;
  /** Who speaks Postgres is asked for TLS in its own words first. */
  speaks: 'postgres' | 'redis' | 'h2';
}

export interface HandshakeFailure {
  kind: 'untrusted' | 'expired' | 'other_name' | 'refused' | 'no_tls' | 'only_tls';
  said: string;
}

const answerWithinMs = 4_000;
/** A server may refuse a certificate a moment after the client takes itself for connected. */
const refusedWithinMs = 500;

/** Null where nothing is wrong with it, or where nobody is there. */
export async function tryHandshake(target: HandshakeTarget): Promise<HandshakeFailure | null> {
  const socket = connect(target.port, target.host);
  const timer = setTimeout(() => socket.destroy(), answerWithinMs + refusedWithinMs);
  try {
    if (!(await opens(socket))) return null;
    if (target.tls === null) return target.speaks === 'postgres' ? null : await onlyTls(target);
    if (target.speaks === 'postgres' && !(await takesTls(socket)))
      return { kind: 'no_tls', said: 'it says so' };
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

/** The request for TLS in Postgres' protocol, which is answered by one letter. */
const tlsRequest = Buffer.from('0000000804d2162f', 'hex');

const takesTls = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.write(tlsRequest);
    socket.once('data', (answer) => resolve(answer.toString() === 'S'));
    socket.once('close', () => resolve(true)); // it says nothing about it
  });

async function onlyTls({ host, port, speaks }: HandshakeTarget): Promise<HandshakeFailure | null> {
  const tls = { rejectUnauthorized: false };
  const trouble = await tryHandshake({ host, port, speaks, tls });
  const hasTls = trouble === null || trouble.kind === 'refused';
  return hasTls ? { kind: 'only_tls', said: 'it takes a TLS handshake' } : null;
}

function performHandshake(
  socket: Socket,
  { host, speaks }: HandshakeTarget,
  tls: NonNullable<HandshakeTarget['tls']>,
): Promise<HandshakeFailure | null> {
  return new Promise((resolve) => {
    const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined);
    const protocols = speaks === 'h2' ? { ALPNProtocols: ['h2'] } : {};
    const named = servername === undefined ? {} : { servername };
    const secure = connectTls({ socket, host, ...protocols, ...tls, ...named });
    let isConnected = false;
    secure.once('secureConnect', () => {
      isConnected = true;
      setTimeout(() => resolve(null), refusedWithinMs);
    });
    secure.on('data', () => undefined);
    secure.on('error', (error: NodeJS.ErrnoException) => resolve(failureOf(error, isConnected)));
    secure.once('close', () => resolve(isConnected ? cut : silent));
    setTimeout(() => resolve(isConnected ? null : silent), answerWithinMs).unref();
  });
}

const cut: HandshakeFailure = {
  kind: 'refused',
  said: 'it ends the connection after the handshake',
};
const silent: HandshakeFailure = { kind: 'no_tls', said: 'no answer to a TLS handshake' };

function failureOf(error: NodeJS.ErrnoException, isConnected: boolean): HandshakeFailure {
  const code = error.code ?? '';
  // OpenSSL's messages are its own addresses and lines; its reason is for people.
  const said = 'reason' in error && code !== otherName ? String(error.reason) : error.message;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return { kind: 'expired', said };
  if (code === otherName) return { kind: 'other_name', said };
  if (untrusted.has(code)) return { kind: 'untrusted', said };
  if (isConnected || code.includes('_ALERT_')) return { kind: 'refused', said };
  return { kind: 'no_tls', said };
}

const otherName = 'ERR_TLS_CERT_ALTNAME_INVALID';
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
