// Certificates of the ingress for other hosts. An authority signs only the server's certificate, by
// which hosts authenticate it. A host's certificate is self-signed and valid only while it is on
// the allowlist, so removing one host requires no change on any other.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const validDays = '3650';
const authorityOnly = [
  'basicConstraints=critical,CA:TRUE,pathlen:0',
  'keyUsage=critical,keyCertSign',
];
const leaf = 'basicConstraints=critical,CA:FALSE';

export interface KeyPair {
  key: string;
  certificate: string;
}

export const keyPairIn = (folder: string): KeyPair => ({
  key: join(folder, 'key'),
  certificate: join(folder, 'crt'),
});

/** Idempotent: an existing authority is kept. */
export async function ensureAuthority(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await createAtomically(folder, (pair) =>
    createCertificate(pair, { name: 'flowrun', extensions: authorityOnly }),
  );
}

/** Creates a new certificate only if the name has changed. */
export async function ensureServerCertificate(
  folder: string,
  { name, authority }: { name: string; authority: KeyPair },
): Promise<void> {
  const nameFile = join(folder, 'name');
  if (existsSync(nameFile) && readFileSync(nameFile, 'utf8') === name) return;
  await createAtomically(folder, async (pair, part) => {
    const altName = `subjectAltName=${isIPv4(name) ? 'IP' : 'DNS'}:${name}`;
    const extensions = [leaf, 'extendedKeyUsage=serverAuth', altName];
    await createCertificate(pair, { name, extensions, signer: authority });
    writeFileSync(join(part, 'name'), name);
  });
}

export async function createHostCertificate(pair: KeyPair, name: string): Promise<void> {
  await createCertificate(pair, { name, extensions: [leaf, 'extendedKeyUsage=clientAuth'] });
}

interface CertificateRequest {
  name: string;
  extensions: string[];
  /** The issuer; if omitted, the certificate is self-signed. */
  signer?: KeyPair;
}

async function createCertificate(
  { key, certificate }: KeyPair,
  { name, extensions, signer }: CertificateRequest,
): Promise<void> {
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  const files = ['-keyout', key, '-out', certificate, '-config', '/dev/null'];
  const subject = ['-subj', `/CN=${name}`, ...extensions.flatMap((each) => ['-addext', each])];
  const issuer = signer === undefined ? [] : ['-CA', signer.certificate, '-CAkey', signer.key];
  await run('openssl', [
    'req',
    '-x509',
    '-days',
    validDays,
    ...newKey,
    ...files,
    ...subject,
    ...issuer,
  ]);
}

/** Fills a temporary directory and renames it, so that an existing directory is complete. */
async function createAtomically(
  folder: string,
  fill: (pair: KeyPair, part: string) => Promise<void>,
): Promise<void> {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  await fill(keyPairIn(part), part);
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
}
