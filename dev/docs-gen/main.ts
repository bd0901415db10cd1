// `npm run describe` writes the generated files: the description of the interface, the settings and
// the limits. A test fails if they differ from the code.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { makeDocuments } from './documents.ts';

for (const file of await makeDocuments()) write(file);

function write({ path, text }: { path: string; text: string }): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  print(`${relative(repository, path)} written`);
}
