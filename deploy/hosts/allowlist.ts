// The allowlist of hosts, and the files that each ingress reads. Postgres, Redis and Caddy have one
// volume each, with only what they need. The authority's key is in none of them.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type KeyPair, keyPairIn } from './certificates.ts';

interface AllowlistPaths {
  authority: KeyPair;
  authorityFolder: string;
  serverFolder: string;
  hostsDir: string;
  readers: { postgres: string; redis: string; entrance: string };
}

export function pathsIn(secrets: string): AllowlistPaths {
  const own = join(secrets, 'hosts');
  const authorityFolder = join(own, 'authority');
  return {
    authority: keyPairIn(authorityFolder),
    authorityFolder,
    serverFolder: join(own, 'server'),
    hostsDir: join(own, 'known'),
    readers: {
      postgres: join(secrets, 'postgres'),
      redis: join(secrets, 'redis'),
      entrance: join(secrets, 'entrance'),
    },
  };
}

export function hostNames({ hostsDir }: AllowlistPaths): string[] {
  if (!existsSync(hostsDir)) return [];
  return readdirSync(hostsDir)
    .filter((file) => file.endsWith('.crt'))
    .map((file) => basename(file, '.crt'))
    .sort();
}

export function allow(paths: AllowlistPaths, name: string, certificate: string): void {
  mkdirSync(paths.hostsDir, { recursive: true });
  copyFileSync(certificate, fileOf(paths, name));
  publish(paths);
}

/** Publishes even if the name was not on the list, so that a failed removal can be repeated. */
export function deny(paths: AllowlistPaths, name: string): void {
  rmSync(fileOf(paths, name), { force: true });
  publish(paths);
}

/** Includes the authority's certificate, because none of the readers starts with an empty list. */
export function publish(paths: AllowlistPaths): void {
  const { authority, serverFolder, readers } = paths;
  const files = [authority.certificate, ...hostNames(paths).map((name) => fileOf(paths, name))];
  const certificates = files.map((file) => readFileSync(file, 'utf8').trim());
  const server = keyPairIn(serverFolder);
  for (const [reader, folder] of Object.entries(readers)) {
    put(join(folder, 'server.crt'), readFileSync(server.certificate, 'utf8'));
    // Redis reads it as its own user, whose ID depends on the image; the others start as root.
    const mode = reader === 'redis' ? 0o644 : 0o600;
    put(join(folder, 'server.key'), readFileSync(server.key, 'utf8'), mode);
  }
  put(join(readers.postgres, 'hosts.crt'), `${certificates.join('\n')}\n`);
  put(join(readers.redis, 'hosts.crt'), `${certificates.join('\n')}\n`);
  put(join(readers.entrance, 'hosts.caddy'), trustPool(certificates));
}

/** Inline certificates, because Caddy only watches the text of its configuration. */
function trustPool(certificates: string[]): string {
  const lines = certificates.map(
    (pem) => `\ttrust_der ${pem.replaceAll(/-----[^-]+-----|\s/g, '')}`,
  );
  return `trust_pool inline {\n${lines.join('\n')}\n}\n`;
}

const fileOf = ({ hostsDir }: AllowlistPaths, name: string): string =>
  join(hostsDir, `${name}.crt`);

function put(file: string, text: string, mode = 0o644): void {
  writeFileSync(`${file}.new`, text, { mode });
  renameSync(`${file}.new`, file);
}
