import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage } from './build-page.ts';
import { buildCliPackage } from './cli-package.ts';
import { buildClientPackage } from './client-package.ts';
import { root } from './package-parts.ts';

/** Builds the packages and the page that the API serves. A second call replaces their files. */
export async function buildPackages(): Promise<void> {
  const [client, cli, page] = await Promise.all([
    buildClientPackage(),
    buildCliPackage(),
    buildPage(),
  ]);
  writeFiles(join(root, 'dist/client'), client);
  writeFiles(join(root, 'dist/cli'), cli);
  writeFiles(join(root, 'dist/page'), page);
}

/** Removes files of an earlier build last, because another process may read them. */
function writeFiles(folder: string, files: Record<string, string | Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    // Another process may read the folder, or write the same file.
    const partial = join(root, `dist/${process.pid}-${name}`);
    writeFileSync(partial, content);
    renameSync(partial, join(folder, name));
  }
  for (const name of readdirSync(folder)) {
    if (!Object.hasOwn(files, name)) rmSync(join(folder, name), { force: true });
  }
}
