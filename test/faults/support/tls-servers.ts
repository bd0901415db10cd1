// Postgres, Redis and Temporal servers of this suite that accept only TLS connections with a client
// certificate of one authority.

import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRoot } from '../../../dev/lib/folders.ts';
import { unprivilegedUser } from '../../../dev/lib/users.ts';
import { ensurePostgres } from '../../../dev/stack/servers/postgres.ts';
import { ensureRedis } from '../../../dev/stack/servers/redis.ts';
import { ensureTemporalServer } from '../../../dev/stack/servers/temporal-server.ts';
import { faultTestFolders } from '../../../dev/test-runner/fault-test-servers.ts';
import { type Certified, makeAuthority, type TestAuthority } from '../../support/authority.ts';
import { type TlsSettings, tlsSettings } from '../../support/tls-settings.ts';

export interface TlsServers {
  authority: TestAuthority;
  redisUrl: string;
  temporalAddress: string;
  postgresUrl(query: string): string;
  /** The answer to a process with this certificate. */
  settings(shown: Certified): TlsSettings;
}

export async function startTlsServers(): Promise<TlsServers> {
  const folders = faultTestFolders();
  const folder = join(folders.data, 'tls');
  mkdirSync(folder, { recursive: true });
  const authority = makeAuthority('127.0.0.1');
  const server = authority.issue({ names: ['IP:127.0.0.1', 'DNS:localhost'] });
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o644 });
    return join(folder, name);
  };
  const tls = {
    ca: file('ca.crt', authority.ca),
    certificate: file('server.crt', server.cert),
    key: file('server.key', server.key),
  };
  const plainUrl = await ensurePostgres(folders, undefined, {
    ssl: 'on',
    ssl_ca_file: tls.ca,
    ssl_cert_file: tls.certificate,
    ssl_key_file: ofPostgres(file('postgres.key', server.key)),
    hba_file: ofPostgres(file('pg_hba.conf', clientAuthentication)),
  });
  const [redisUrl, temporalAddress] = await Promise.all([
    ensureRedis(folders, { tls }),
    ensureTemporalServer(folders, plainUrl, tls),
  ]);
  return {
    authority,
    redisUrl,
    temporalAddress,
    postgresUrl: (query) => `${plainUrl}${query}`,
    settings: (shown) => tlsSettings(folder, authority.ca, shown),
  };
}

/** Temporal connects to its own databases without TLS. */
const clientAuthentication = [
  'host postgres,temporal,temporal_visibility all 127.0.0.1/32 scram-sha-256',
  'hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca',
]
  .map((line) => `${line}\n`)
  .join('');

function ofPostgres(file: string): string {
  if (isRoot) {
    const { uid, gid } = unprivilegedUser();
    chownSync(file, uid, gid);
  }
  chmodSync(file, 0o600);
  return file;
}
