// `npm run describe` writes the generated files: the description of the interface, the settings and
// the limits. A test fails if they differ from the code.

import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { makeDocuments } from './documents.ts';

for (const { path, text } of await makeDocuments()) {
  writeFileSync(path, text);
  print(`${relative(repository, path)} written`);
}
