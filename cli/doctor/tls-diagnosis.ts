import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import { readDatabaseFiles } from '../../config/database-files.ts';
import type { DoctorConfig } from '../../config/doctor-config.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { HandshakeFailure, HandshakeTarget } from './tls-handshake.ts';
import type { Problem } from './types.ts';

export type Store = 'postgres' | 'redis' | 'temporal';

/** Where each store is and how the settings have it spoken to; null where they say nothing of it. */
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
    ...shown({ ca: ca ?? undefined, cert: cert ?? undefined, key: key ?? undefined }),
    ...(mode === 'no-verify' && { rejectUnauthorized: false }),
  };
  const isWanted = mode !== 'disable' && (mode ?? searchParams.get('ssl') ?? ca ?? cert) !== null;
  return { ...placeOf(databaseUrl, 5432), tls: isWanted ? tls : null, speaks: 'postgres' };
}

function ofRedis({ url, tls }: NonNullable<DoctorConfig['redis']>): HandshakeTarget {
  const isWanted = new URL(url).protocol === 'rediss:';
  return { ...placeOf(url, 6379), tls: isWanted ? shown(tls) : null, speaks: 'redis' };
}

function ofTemporal({
  address,
  connection,
}: NonNullable<DoctorConfig['temporal']>): HandshakeTarget {
  const place = placeOf(`temporal://${address}`, 7233);
  const { tls } = connection;
  if (!tls) return { ...place, tls: null, speaks: 'h2' };
  if (tls === true) return { ...place, tls: {}, speaks: 'h2' };
  const { serverRootCACertificate: ca, clientCertPair: pair, serverNameOverride: name } = tls;
  const given = shown({
    ca: ca && Buffer.from(ca),
    cert: pair && Buffer.from(pair.crt),
    key: pair && Buffer.from(pair.key),
    servername: name ?? undefined,
  });
  return { ...place, tls: given, speaks: 'h2' };
}

const shown = (
  given: {
    [Name in keyof ConnectionOptions]: ConnectionOptions[Name] | undefined;
  },
): NonNullable<HandshakeTarget['tls']> => omitUndefined(given);

function placeOf(address: string, usualPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? usualPort : Number(port) };
}

// What is wrong with the way to a store where that is TLS, and what to do about it.

interface Settings {
  name: string;
  address: string;
  ca: string;
  pair: string;
  /** How the settings ask for TLS. */
  tls: string;
  /** What else could make a name right. */
  otherName: string;
}

const settings: Record<Store, Settings> = {
  postgres: {
    name: 'Postgres',
    address: 'DATABASE_URL',
    ca: 'sslrootcert in DATABASE_URL',
    pair: 'sslcert and sslkey in DATABASE_URL',
    tls: 'sslmode=verify-full in DATABASE_URL',
    otherName: '',
  },
  redis: {
    name: 'Redis',
    address: 'REDIS_URL',
    ca: 'REDIS_TLS_CA',
    pair: 'REDIS_TLS_CERT and REDIS_TLS_KEY',
    tls: 'rediss:// in REDIS_URL',
    otherName: '',
  },
  temporal: {
    name: 'Temporal',
    address: 'TEMPORAL_ADDRESS',
    ca: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    pair: 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH',
    tls: 'TEMPORAL_TLS=true',
    otherName: ' or set TEMPORAL_TLS_SERVER_NAME to that name,',
  },
};

/** Postgres looks at some of it after the handshake, and says so in its own words. */
export function postgresHandshakeFailure(error: unknown): HandshakeFailure | null {
  const said = error instanceof Error ? error.message : '';
  if (/requires a valid client certificate|certificate authentication failed/.test(said))
    return { kind: 'refused', said };
  if (/no pg_hba\.conf entry .*, no encryption/.test(said)) return { kind: 'only_tls', said };
  return null;
}

export function tlsProblem(
  store: Store,
  { kind, said }: HandshakeFailure,
  tls: HandshakeTarget['tls'],
): Problem {
  const { name, address, ca, pair, tls: asked, otherName } = settings[store];
  switch (kind) {
    case 'untrusted':
      return {
        code: `${store}_untrusted`,
        what: `${name} shows a certificate of an authority that is not trusted here: ${said}.`,
        advice: `Name the authority that has signed it in ${ca}. If it should be trusted already, somebody else may be answering at ${address}.`,
      };
    case 'expired':
      return {
        code: `${store}_certificate_expired`,
        what: `The certificate that ${name} shows is not in force: ${said}.`,
        advice: `Renew the certificate of ${name}, and make sure that the clock of this machine is right.`,
      };
    case 'other_name':
      return {
        code: `${store}_other_name`,
        what: `The certificate that ${name} shows is not for its address: ${said.replace(/\.?\s*$/, '')}.`,
        advice: `Use in ${address} a name that the certificate is for,${otherName} or give ${name} a certificate for this one.`,
      };
    case 'refused':
      return {
        code: `${store}_refuses_certificate`,
        what: tls?.cert
          ? `${name} refuses the certificate that it is shown: ${said}.`
          : `${name} demands a client certificate, and is shown none: ${said}.`,
        advice: tls?.cert
          ? `${ownState(tls.cert)}Give ${pair} a certificate that is in force and of an authority that ${name} trusts.`
          : `Set ${pair}.`,
      };
    case 'no_tls':
      return {
        code: `${store}_without_tls`,
        what: `${name} takes no TLS on that port: ${said}.`,
        advice: `Turn TLS on there or correct ${address}; without ${asked} it is spoken to in the clear.`,
      };
    case 'only_tls':
      return {
        code: `${store}_wants_tls`,
        what: `${name} wants TLS on that port: ${said}.`,
        advice: `Set ${asked}, and ${ca} where its authority is one of your own.`,
      };
  }
}

/** Ours may have expired: the one reason that can be seen from here. */
function ownState(cert: NonNullable<NonNullable<HandshakeTarget['tls']>['cert']>): string {
  const [first] = [cert].flat();
  const { validTo } = new X509Certificate(first ?? '');
  return Date.parse(validTo) < Date.now() ? `It has expired on ${validTo}. ` : '';
}
