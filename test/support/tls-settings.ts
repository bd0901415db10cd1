import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certified } from './authority.ts';

export interface TlsSettings {
  /** What an address of Postgres ends with. */
  query: string;
  /** For Redis and Temporal. */
  env: Record<string, string>;
}

/** What is said to a process that is to trust an authority and, where one is given, show a certificate. */
export function tlsSettings(folder: string, ca: string, shown?: Certified): TlsSettings {
  const own = mkdtempSync(join(folder, 'tls-'));
  const file = (name: string, text: string): string => {
    const path = join(own, name);
    writeFileSync(path, text, { mode: 0o600 }); // Postgres' own programs take no key that others may read
    return path;
  };
  const caFile = file('ca.crt', ca);
  const trusting = {
    query: `?sslmode=verify-full&sslrootcert=${caFile}`,
    env: { REDIS_TLS_CA_FILE: caFile, TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile },
  };
  if (shown === undefined) return trusting;
  const [certFile, keyFile] = [file('client.crt', shown.cert), file('client.key', shown.key)];
  return {
    query: `${trusting.query}&sslcert=${certFile}&sslkey=${keyFile}`,
    env: {
      ...trusting.env,
      REDIS_TLS_CERT_FILE: certFile,
      REDIS_TLS_KEY_FILE: keyFile,
      TEMPORAL_TLS_CLIENT_CERT_PATH: certFile,
      TEMPORAL_TLS_CLIENT_KEY_PATH: keyFile,
    },
  };
}
