import { readFileSync } from 'node:fs';

export interface User {
  uid: number;
  gid: number;
}

/**
 * The user that root runs Postgres as: the package's user if it exists, otherwise the unprivileged
 * one of the system.
 */
export function unprivilegedUser(): User {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}
