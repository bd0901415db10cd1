// Writes what is generated and committed: the interface's description and the list of settings. A test
// compares them with the routes and the configuration.

import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { makeDocuments } from './documents.ts';

for (const { path, text } of await makeDocuments()) {
  writeFileSync(path, text);
  print(`${relative(repository, path)} is written`);
}
