// Creates a certificate authority for the stack and a certificate for this machine, so that
// webhooks use verified HTTPS from the first run. The authority's key is deleted after it has
// signed.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../../lib/apt.ts';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';

export interface Authority {
  folder: string;
  ca: string;
  certificate: string;
  key: string;
}

const validDays = '820';
const stillValidSeconds = `${24 * 3600}`;
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const serverExtensions = [
  // Containers reach this machine by the last name.
  'subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:host.docker.internal',
  'basicConstraints=critical,CA:FALSE',
  'extendedKeyUsage=serverAuth',
];

export function ensureAuthority(folders: Folders): Promise<Authority> {
  return step('certificates', async (progress) => {
    if (findOnPath('openssl') === undefined) await installPackages(['openssl'], progress);
    const authority = authorityIn(join(folders.data, 'authority'));
    if (await isValid(authority)) return { value: authority, summary: `in ${authority.folder}` };
    await create(authority.folder);
    return { value: authority, summary: `created in ${authority.folder}` };
  });
}

function authorityIn(folder: string): Authority {
  return {
    folder,
    ca: join(folder, 'ca.crt'),
    certificate: join(folder, 'server.crt'),
    key: join(folder, 'server.key'),
  };
}

async function isValid({ certificate }: Authority): Promise<boolean> {
  if (!existsSync(certificate)) return false;
  const check = ['x509', '-in', certificate, '-noout', '-checkend', stillValidSeconds];
  return runCommand('openssl', check).then(
    () => true,
    () => false,
  );
}

async function create(folder: string): Promise<void> {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o755 });
  const options = { cwd: part };
  const ca = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=flowrun local authority'];
  await runCommand('openssl', ['req', '-x509', ...newKey, '-days', validDays, ...ca], options);
  const server = ['-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost'];
  await runCommand('openssl', ['req', ...newKey, ...server], options);
  writeFileSync(join(part, 'extensions'), `${serverExtensions.join('\n')}\n`);
  const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', validDays];
  const signed = ['-in', 'server.csr', '-extfile', 'extensions', '-out', 'server.crt'];
  await runCommand('openssl', ['x509', '-req', ...signer, ...signed], options);
  for (const temporary of ['ca.key', 'ca.srl', 'server.csr', 'extensions']) {
    rmSync(join(part, temporary), { force: true });
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
}
