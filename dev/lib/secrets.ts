import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A secret made at the first call and kept in a file that only its owner reads. */
export function ensureSecret(file: string, encoding: 'hex' | 'base64' = 'hex'): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.part`, `${randomBytes(32).toString(encoding)}\n`, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  }
  return readFileSync(file, 'utf8').trim();
}
