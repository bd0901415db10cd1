import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildCliPackage } from './cli-package.ts';
import { buildClientPackage } from './client-package.ts';
import { root } from './package-parts.ts';

/** Builds the packages that the API serves. A second call replaces their files. */
export async function buildPackages(): Promise<void> {
  const [client, cli] = await Promise.all([buildClientPackage(), buildCliPackage()]);
  writeFiles(join(root, 'dist/client'), client);
  writeFiles(join(root, 'dist/cli'), cli);
}

function writeFiles(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    // Another process may read the folder, or write the same file.
    const partial = join(root, `dist/${process.pid}-${name}`);
    writeFileSync(partial, text);
    renameSync(partial, join(folder, name));
  }
}
