#!/usr/bin/env node
// Plain JavaScript, so that it can say what is missing before any TypeScript can be read.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

const oldestNode = 20;

if (Number(process.versions.node.split('.')[0]) < oldestNode) {
  giveUp(`Node ${oldestNode} or newer is needed; this is ${process.versions.node}.`);
}
if (!existsSync(join(import.meta.dirname, '../node_modules/tsx'))) {
  giveUp('The packages are not installed yet: run `npm ci` first.');
}

const { register } = await import('tsx/esm/api');
register();
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2));

function giveUp(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
