import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Reads a secret from a file that only its owner may read. The first call generates it. */
export function ensureSecret(file: string, encoding: 'hex' | 'base64' = 'hex'): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.part`, `${randomBytes(32).toString(encoding)}\n`, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  }
  return readFileSync(file, 'utf8').trim();
}
