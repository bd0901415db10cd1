import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export function serviceVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  }; // this repository's own
  return version;
}

/** The names and licenses of the packages that a bundle contains. */
export function licensesOf(...packages: string[]): string {
  const licenses = packages.map(
    (name) => `${name}:\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`,
  );
  return licenses.join('\n');
}

/** The files of a folder and of the folders in it, as relative paths in a fixed order. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
