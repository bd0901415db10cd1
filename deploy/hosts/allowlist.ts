// The list of the hosts that may come in, and what each entrance reads of it: three programs, three
// volumes, each with what its reader needs and no more. The key of the authority is in none of them.

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

export interface AllowlistPaths {
  authority: KeyPair;
  authorityFolder: string;
  serverFolder: string;
  known: string;
  readers: { postgres: string; redis: string; entrance: string };
}

export function pathsIn(secrets: string): AllowlistPaths {
  const own = join(secrets, 'hosts');
  const authorityFolder = join(own, 'authority');
  return {
    authority: keyPairIn(authorityFolder),
    authorityFolder,
    serverFolder: join(own, 'server'),
    known: join(own, 'known'),
    readers: {
      postgres: join(secrets, 'postgres'),
      redis: join(secrets, 'redis'),
      entrance: join(secrets, 'entrance'),
    },
  };
}

export function hostNames({ known }: AllowlistPaths): string[] {
  if (!existsSync(known)) return [];
  return readdirSync(known)
    .filter((file) => file.endsWith('.crt'))
    .map((file) => basename(file, '.crt'))
    .sort();
}

export function allow(places: AllowlistPaths, name: string, certificate: string): void {
  mkdirSync(places.known, { recursive: true });
  copyFileSync(certificate, fileOf(places, name));
  publish(places);
}

/** Of a name that is not on it, too: the readers are given what is. */
export function deny(places: AllowlistPaths, name: string): void {
  rmSync(fileOf(places, name), { force: true });
  publish(places);
}

/** The authority stands on it, too: a list of nobody is one that none of them starts with. */
export function publish(places: AllowlistPaths): void {
  const { authority, serverFolder, readers } = places;
  const files = [authority.certificate, ...hostNames(places).map((name) => fileOf(places, name))];
  const certificates = files.map((file) => readFileSync(file, 'utf8').trim());
  const server = keyPairIn(serverFolder);
  for (const [reader, folder] of Object.entries(readers)) {
    put(join(folder, 'server.crt'), readFileSync(server.certificate, 'utf8'));
    // Redis reads it as a user of its own, whose number is its image's; the others begin as root.
    const mode = reader === 'redis' ? 0o644 : 0o600;
    put(join(folder, 'server.key'), readFileSync(server.key, 'utf8'), mode);
  }
  put(join(readers.postgres, 'hosts.crt'), `${certificates.join('\n')}\n`);
  put(join(readers.redis, 'hosts.crt'), `${certificates.join('\n')}\n`);
  put(join(readers.entrance, 'hosts.caddy'), trustPool(certificates));
}

/** The certificates themselves, not a file's name: what is watched is this text. */
function trustPool(certificates: string[]): string {
  const lines = certificates.map(
    (pem) => `\ttrust_der ${pem.replaceAll(/-----[^-]+-----|\s/g, '')}`,
  );
  return `trust_pool inline {\n${lines.join('\n')}\n}\n`;
}

const fileOf = ({ known }: AllowlistPaths, name: string): string => join(known, `${name}.crt`);

function put(file: string, text: string, mode = 0o644): void {
  writeFileSync(`${file}.new`, text, { mode });
  renameSync(`${file}.new`, file);
}
