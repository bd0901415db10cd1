// The certificates of the entrances for other hosts. An authority signs this machine's own, by which hosts
// know it, and nothing else. A host's certificate is signed by itself and worth what being on the list is:
// taken off it, it opens nothing, and no other host is asked to change anything.

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

/** Once: a repetition leaves it as it is. */
export async function ensureAuthority(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await createAtomically(folder, (pair) =>
    createCertificate(pair, { name: 'flowrun', extensions: authorityOnly }),
  );
}

/** Once for each name by which other hosts reach this machine. */
export async function ensureServerCertificate(
  folder: string,
  { name, authority }: { name: string; authority: KeyPair },
): Promise<void> {
  const known = join(folder, 'name');
  if (existsSync(known) && readFileSync(known, 'utf8') === name) return;
  await createAtomically(folder, async (pair, part) => {
    const named = `subjectAltName=${isIPv4(name) ? 'IP' : 'DNS'}:${name}`;
    const extensions = [leaf, 'extendedKeyUsage=serverAuth', named];
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
  /** Who vouches for it; nobody but itself, where none is named. */
  signer?: KeyPair;
}

async function createCertificate(
  { key, certificate }: KeyPair,
  { name, extensions, signer }: CertificateRequest,
): Promise<void> {
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  const files = ['-keyout', key, '-out', certificate, '-config', '/dev/null'];
  const said = ['-subj', `/CN=${name}`, ...extensions.flatMap((each) => ['-addext', each])];
  const by = signer === undefined ? [] : ['-CA', signer.certificate, '-CAkey', signer.key];
  await run('openssl', ['req', '-x509', '-days', validDays, ...newKey, ...files, ...said, ...by]);
}

/** A folder that is there is complete. */
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
