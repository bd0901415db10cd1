import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildPage } from './build-page.ts';
import { buildCliPackage } from './cli-package.ts';
import { buildClientPackage } from './client-package.ts';
import { filesBelow, root } from './package-parts.ts';
import { buildPythonPackage } from './python-package.ts';

/** Builds the packages and the page that the API serves. A second call replaces their files. */
export async function buildPackages(): Promise<void> {
  const [client, cli, page] = await Promise.all([
    buildClientPackage(),
    buildCliPackage(),
    buildPage(),
  ]);
  writeFiles(join(root, 'dist/client'), client);
  writeFiles(join(root, 'dist/cli'), cli);
  writeFiles(join(root, 'dist/client-python'), buildPythonPackage());
  writeFiles(join(root, 'dist/page'), page);
}

/** Removes files of an earlier build last, because another process may read them. */
function writeFiles(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    // Another process may read the folder, or write the same file.
    const partial = join(root, `dist/${process.pid}-partial`);
    writeFileSync(partial, content);
    renameSync(partial, join(folder, name));
  }
  const removed = filesBelow(folder).filter((name) => !Object.hasOwn(files, name));
  for (const name of removed) rmSync(join(folder, name), { force: true });
}
