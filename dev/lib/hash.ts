import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const hashLength = 16;

export function hashOf(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, hashLength);
}

/** Hashes the paths, modes and contents of a folder's files, but not their times. */
export function hashOfFolder(folder: string, ...more: string[]): string {
  const files = filesIn(folder);
  return hashOf(
    ...files.flatMap((file) => [
      relative(folder, file),
      String(lstatSync(file).mode & 0o111),
      readFileSync(file),
    ]),
    ...more,
  );
}

/** Lists the regular files of a folder in a fixed order, without node_modules. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(path);
      return entry.isFile() ? [path] : [];
    });
}
