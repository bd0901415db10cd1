import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackages } from '../../deploy/packages/build-packages.ts';
import { repository } from './folders.ts';
import { hashOf, hashOfFolder } from './hash.ts';

/** Builds the packages and the page that the API serves, once per content of their sources. */
export async function ensureServedPackages(): Promise<void> {
  const hash = hashOfSources();
  if (readBuiltHash() === hash) return;
  await buildPackages();
  writeFileSync(hashFile, hash);
}

const hashFile = join(repository, 'dist/packages-hash');

function hashOfSources(): string {
  const names = [
    'cli',
    'client',
    'client-python',
    'config',
    'core',
    'dashboard',
    'deploy/packages',
  ];
  const folders = names.map((name) => join(repository, name));
  const locked = readFileSync(join(repository, 'package-lock.json'));
  return hashOf(locked, ...folders.map((folder) => hashOfFolder(folder)));
}

function readBuiltHash(): string | null {
  try {
    return readFileSync(hashFile, 'utf8');
  } catch {
    return null;
  }
}
