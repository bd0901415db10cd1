import { Buffer } from 'node:buffer';
import type { ConnectionOptions } from 'node:tls';
import { readDatabaseFiles } from '../../config/database-files.ts';
import type { DoctorConfig } from '../../config/doctor-config.ts';
import { onlyDefined } from '../../core/only-defined.ts';
import type { HandshakeTarget } from './tls-handshake.ts';

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
): NonNullable<HandshakeTarget['tls']> => onlyDefined(given);

function placeOf(address: string, usualPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? usualPort : Number(port) };
}
