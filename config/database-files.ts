import { readFileSync } from 'node:fs';
import { areCertificates, inPem, isKeyOf, isPrivateKey } from './tls/pem.ts';

/**
 * The certificate files named in the URL; null for each that is not named. Every connection reads
 * them.
 */
interface DatabaseFiles {
  ca: string | null;
  cert: string | null;
  key: string | null;
}

/** Throws if one of them cannot be read. */
export function readDatabaseFiles(url: string): DatabaseFiles {
  const named = new URL(url).searchParams;
  const read = (name: string): string | null => {
    const file = named.get(name);
    return file ? readFileSync(file, 'utf8') : null;
  };
  return { ca: read('sslrootcert'), cert: read('sslcert'), key: read('sslkey') };
}

/** The expectation that the files do not meet; null if they are valid. */
export function databaseFilesError(url: string): string | null {
  const named = new URL(url).searchParams;
  const unreadable = ['sslrootcert', 'sslcert', 'sslkey'].find((name) => !canRead(named.get(name)));
  if (unreadable !== undefined)
    return `its ${unreadable} to name a file that can be read: ${named.get(unreadable)}`;
  const { ca, cert, key } = readDatabaseFiles(url);
  if (ca !== null && !areCertificates(ca)) return `its sslrootcert to name ${inPem.certificates}`;
  if (cert !== null && !areCertificates(cert)) return `its sslcert to name ${inPem.certificates}`;
  if (key !== null && !isPrivateKey(key)) return `its sslkey to name ${inPem.key}`;
  if (cert === null && key === null) return null;
  if (cert === null || key === null) return 'both of sslcert and sslkey, or none';
  return isKeyOf(key, cert) ? null : 'its sslkey to name the key of its sslcert';
}

function canRead(file: string | null): boolean {
  if (!file) return true;
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
