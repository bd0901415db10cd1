import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../../dev/lib/folders.ts';

const productFolders = [
  'activities',
  'api',
  'cli',
  'client',
  'client-python',
  'config',
  'core',
  'dashboard',
  'deploy',
  'lib',
  'offline-model',
  'sandbox',
  'systems',
  'worker',
  'workflows',
];

const ownFolders = [...productFolders, 'bench', 'dev', 'docs', 'ops', 'test'];

/** Packages, and files that are not written by hand. */
const leftOut =
  /(?:^|\/)(?:node_modules|dist|\.cache|__pycache__)(?:\/|$)|^client\/generated\/|^client-python\/flowrun\/(?:_generated|_sync)\/|^test\/(?:fixtures\/(?:lint|agent-output)|histories)\//;

let files: string[] | undefined;

/** The project's own files, as paths relative to the repository. */
export function ownFiles(): string[] {
  files ??= [...filesAtRoot(), ...ownFolders.flatMap(filesIn)].filter(
    (file) => !leftOut.test(file),
  );
  return files;
}

export function productFiles(): string[] {
  return ownFiles().filter((file) => productFolders.includes(file.split('/')[0] ?? ''));
}

export const isCode = (file: string): boolean => /\.(?:tsx?|mjs)$/.test(file);

export function readOwnFile(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}

function filesAtRoot(): string[] {
  const entries = readdirSync(repository, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(repository, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (leftOut.test(path)) return [];
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}
