import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certified } from './authority.ts';

export interface TlsSettings {
  /** The query of a Postgres URL. */
  query: string;
  /** Variables for Redis and Temporal. */
  env: Record<string, string>;
}

/**
 * Settings for a process that trusts an authority and, if a certificate is given, authenticates
 * with it.
 */
export function tlsSettings(
  folder: string,
  ca: string,
  clientCertificate?: Certified,
): TlsSettings {
  const tlsFolder = mkdtempSync(join(folder, 'tls-'));
  const file = (name: string, text: string): string => {
    const path = join(tlsFolder, name);
    writeFileSync(path, text, { mode: 0o600 }); // Postgres's own programs reject a key that other users can read
    return path;
  };
  const caFile = file('ca.crt', ca);
  const serverOnly = {
    query: `?sslmode=verify-full&sslrootcert=${caFile}`,
    env: { REDIS_TLS_CA_FILE: caFile, TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile },
  };
  if (clientCertificate === undefined) return serverOnly;
  const [certFile, keyFile] = [
    file('client.crt', clientCertificate.cert),
    file('client.key', clientCertificate.key),
  ];
  return {
    query: `${serverOnly.query}&sslcert=${certFile}&sslkey=${keyFile}`,
    env: {
      ...serverOnly.env,
      REDIS_TLS_CERT_FILE: certFile,
      REDIS_TLS_KEY_FILE: keyFile,
      TEMPORAL_TLS_CLIENT_CERT_PATH: certFile,
      TEMPORAL_TLS_CLIENT_KEY_PATH: keyFile,
    },
  };
}
