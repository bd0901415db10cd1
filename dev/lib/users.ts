import { readFileSync } from 'node:fs';

export interface User {
  uid: number;
  gid: number;
}

/** Whom root runs Postgres as: the package's own user where there is one, else nobody. */
export function unprivilegedUser(): User {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}
