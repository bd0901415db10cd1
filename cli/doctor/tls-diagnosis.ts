import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import { readDatabaseFiles } from '../../config/database-files.ts';
import type { DoctorConfig } from '../../config/doctor-config.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { HandshakeFailure, HandshakeTarget } from './tls-handshake.ts';
import type { Problem, Store } from './types.ts';

/** The address of a store and how TLS is configured for it; null if the store is not configured. */
export function handshakeTarget(store: Store, config: DoctorConfig): HandshakeTarget | null {
  if (store === 'postgres') return ofPostgres(config.databaseUrl);
  if (store === 'redis') return config.redis && ofRedis(config.redis);
  return config.temporal && ofTemporal(config.temporal);
}

function ofPostgres(databaseUrl: string): HandshakeTarget {
  const { searchParams } = new URL(databaseUrl);
  const mode = searchParams.get('sslmode');
  const { ca, cert, key } = readDatabaseFiles(databaseUrl);
  const tls = {
    ...definedOnly({ ca: ca ?? undefined, cert: cert ?? undefined, key: key ?? undefined }),
    ...(mode === 'no-verify' && { rejectUnauthorized: false }),
  };
  const usesTls = mode !== 'disable' && (mode ?? searchParams.get('ssl') ?? ca ?? cert) !== null;
  return { ...addressOf(databaseUrl, 5432), tls: usesTls ? tls : null, protocol: 'postgres' };
}

function ofRedis({ url, tls }: NonNullable<DoctorConfig['redis']>): HandshakeTarget {
  const usesTls = new URL(url).protocol === 'rediss:';
  return { ...addressOf(url, 6379), tls: usesTls ? definedOnly(tls) : null, protocol: 'redis' };
}

function ofTemporal({
  address,
  connection,
}: NonNullable<DoctorConfig['temporal']>): HandshakeTarget {
  const endpoint = addressOf(`temporal://${address}`, 7233);
  const { tls } = connection;
  if (!tls) return { ...endpoint, tls: null, protocol: 'h2' };
  if (tls === true) return { ...endpoint, tls: {}, protocol: 'h2' };
  const { serverRootCACertificate: ca, clientCertPair: pair, serverNameOverride: name } = tls;
  const options = definedOnly({
    ca: ca && Buffer.from(ca),
    cert: pair && Buffer.from(pair.crt),
    key: pair && Buffer.from(pair.key),
    servername: name ?? undefined,
  });
  return { ...endpoint, tls: options, protocol: 'h2' };
}

const definedOnly = (
  options: {
    [Name in keyof ConnectionOptions]: ConnectionOptions[Name] | undefined;
  },
): NonNullable<HandshakeTarget['tls']> => omitUndefined(options);

function addressOf(address: string, usualPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? usualPort : Number(port) };
}

// Explains a failed TLS handshake with a store, and what to do about it.

interface Settings {
  name: string;
  address: string;
  ca: string;
  pair: string;
  /** The setting that enables TLS. */
  tls: string;
  /** Another way to fix a name mismatch. */
  nameMismatch: string;
}

const settings: Record<Store, Settings> = {
  postgres: {
    name: 'Postgres',
    address: 'DATABASE_URL',
    ca: 'sslrootcert in DATABASE_URL',
    pair: 'sslcert and sslkey in DATABASE_URL',
    tls: 'sslmode=verify-full in DATABASE_URL',
    nameMismatch: '',
  },
  redis: {
    name: 'Redis',
    address: 'REDIS_URL',
    ca: 'REDIS_TLS_CA',
    pair: 'REDIS_TLS_CERT and REDIS_TLS_KEY',
    tls: 'rediss:// in REDIS_URL',
    nameMismatch: '',
  },
  temporal: {
    name: 'Temporal',
    address: 'TEMPORAL_ADDRESS',
    ca: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    pair: 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH',
    tls: 'TEMPORAL_TLS=true',
    nameMismatch: ' or set TEMPORAL_TLS_SERVER_NAME to that name,',
  },
};

/** Postgres checks some of this after the handshake and reports it in its own protocol. */
export function postgresHandshakeFailure(error: unknown): HandshakeFailure | null {
  const detail = error instanceof Error ? error.message : '';
  if (/requires a valid client certificate|certificate authentication failed/.test(detail))
    return { kind: 'refused', detail };
  if (/no pg_hba\.conf entry .*, no encryption/.test(detail)) return { kind: 'only_tls', detail };
  return null;
}

export function tlsProblem(
  store: Store,
  { kind, detail }: HandshakeFailure,
  tls: HandshakeTarget['tls'],
): Problem {
  const { name, address, ca, pair, tls: tlsSetting, nameMismatch } = settings[store];
  switch (kind) {
    case 'untrusted':
      return {
        code: `${store}_untrusted`,
        message: `The certificate of ${name} is not signed by a trusted authority: ${detail}.`,
        advice: `Set ${ca} to the authority that signed it. If it should be trusted already, another server may be responding at ${address}.`,
      };
    case 'expired':
      return {
        code: `${store}_certificate_expired`,
        message: `The certificate of ${name} is expired or not yet valid: ${detail}.`,
        advice: `Renew the certificate of ${name}, and check the clock of this machine.`,
      };
    case 'name_mismatch':
      return {
        code: `${store}_name_mismatch`,
        message: `The certificate of ${name} is not valid for its address: ${detail.replace(/\.?\s*$/, '')}.`,
        advice: `Use a name in ${address} that the certificate contains,${nameMismatch} or give ${name} a certificate for this name.`,
      };
    case 'refused':
      return {
        code: `${store}_rejects_certificate`,
        message: tls?.cert
          ? `${name} rejects the client certificate: ${detail}.`
          : `${name} requires a client certificate, and none is configured: ${detail}.`,
        advice: tls?.cert
          ? `${ownState(tls.cert)}Set ${pair} to a valid certificate of an authority that ${name} trusts.`
          : `Set ${pair}.`,
      };
    case 'no_tls':
      return {
        code: `${store}_without_tls`,
        message: `${name} does not accept TLS on that port: ${detail}.`,
        advice: `Enable TLS there or correct ${address}. To connect without encryption, remove ${tlsSetting}.`,
      };
    case 'only_tls':
      return {
        code: `${store}_requires_tls`,
        message: `${name} requires TLS on that port: ${detail}.`,
        advice: `Set ${tlsSetting}, and ${ca} if its certificate is signed by a private authority.`,
      };
  }
}

/** Expiry is the one reason for a rejection that is visible on this side. */
function ownState(cert: NonNullable<NonNullable<HandshakeTarget['tls']>['cert']>): string {
  const [first] = [cert].flat();
  const { validTo } = new X509Certificate(first ?? '');
  return Date.parse(validTo) < Date.now() ? `It expired on ${validTo}. ` : '';
}
