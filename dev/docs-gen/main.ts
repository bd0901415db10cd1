// `npm run describe` writes the generated files: the description of the interface, the settings,
// the limits and the package of the client. A test fails if they differ from the code.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { buildClientPackage } from './client-package.ts';
import { makeDocuments } from './documents.ts';

for (const file of await makeDocuments()) write(file);
// The client is built from the types that were just written.
for (const file of await buildClientPackage()) write(file);

function write({ path, text }: { path: string; text: string }): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  print(`${relative(repository, path)} written`);
}
