// A bundle is an archive with everything that another host needs: unpacked into a clone, it becomes
// `.env` and `host/`.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostsConfig } from '../../config/hosts-config.ts';
import { pathsIn } from './allowlist.ts';
import { createHostCertificate, keyPairIn } from './certificates.ts';

const run = promisify(execFile);
const archiveMaxBytes = 1024 * 1024;

export interface PrimaryMachine extends HostsConfig {
  /** The directory of this machine's secrets. */
  secrets: string;
}

interface Bundle {
  archive: Buffer;
  /** The certificate for the allowlist; its key is only in the archive. */
  certificate: string;
  dispose(): void;
}

export async function createBundle(name: string, primary: PrimaryMachine): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  const host = join(folder, 'bundle/host');
  mkdirSync(host, { recursive: true });
  const pair = keyPairIn(folder);
  await createHostCertificate(pair, name);
  copyFileSync(pair.key, join(host, 'host.key'));
  copyFileSync(pair.certificate, join(host, 'host.crt'));
  copyFileSync(pathsIn(primary.secrets).authority.certificate, join(host, 'authority.crt'));
  copyFileSync(join(primary.secrets, 'service/encryption-key'), join(host, 'encryption-key'));
  writeFileSync(join(host, 'database-url'), databaseUrl(primary));
  writeFileSync(join(host, 'redis-url'), redisUrl(primary));
  writeFileSync(join(folder, 'bundle/.env'), settings(name, primary));
  const owned = ['--owner=0', '--group=0', '--mode=u=rwX,go='];
  const { stdout: archive } = await run(
    'tar',
    ['-c', ...owned, '-C', join(folder, 'bundle'), '.env', 'host'],
    { encoding: 'buffer', maxBuffer: archiveMaxBytes },
  );
  const forget = () => rmSync(folder, { recursive: true, force: true });
  return { archive, certificate: pair.certificate, dispose: forget };
}

function databaseUrl({ secrets, name, ports }: PrimaryMachine): string {
  const files =
    'sslrootcert=/secrets/authority.crt&sslcert=/secrets/host.crt&sslkey=/secrets/host.key';
  const password = passwordIn(secrets, 'postgres/flowrun');
  return `postgres://flowrun:${password}@${name}:${ports.postgres}/flowrun?sslmode=verify-full&${files}\n`;
}

function redisUrl({ secrets, name, ports }: PrimaryMachine): string {
  return `rediss://:${passwordIn(secrets, 'redis/password')}@${name}:${ports.redis}/0\n`;
}

const passwordIn = (secrets: string, file: string): string =>
  readFileSync(join(secrets, file), 'utf8').trim();

function settings(host: string, { name, ports, project, publicUrl }: PrimaryMachine): string {
  return `# This machine is the host ${host} of the installation at ${name}. Add further settings below.
# The files in host/ are secret: they give full access as a worker of that installation.
# Set ANTHROPIC_API_KEY as there. Without it this host gets only runs of projects with their own.
COMPOSE_FILE=deploy/hosts/worker.yml
COMPOSE_PROJECT_NAME=${project}
HOST_NAME=${host}
TEMPORAL_ADDRESS=${name}:${ports.temporal}
PUBLIC_URL=${publicUrl}
`;
}
