import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildClientPackage } from './client-package.ts';

/** Builds the packages that the API serves. A second call replaces their files. */
export async function buildPackages(): Promise<void> {
  const folder = resolve(import.meta.dirname, '../../dist/client');
  const files = await buildClientPackage();
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    // Another process may read the file, or write the same one.
    const partial = join(folder, `${name}.${process.pid}`);
    writeFileSync(partial, text);
    renameSync(partial, join(folder, name));
  }
}
