import { posix } from 'node:path';
import { packageOf } from '../../../dev/lint/boundaries.mjs';

const maxFilesInFolder = 20;
const maxLines = 250;

/** Folders with too many files directly in them. */
export function crowdedFolders(files: string[]): string[] {
  const byFolder = groupBy(files, (file) => posix.dirname(file));
  return [...byFolder].filter(([, own]) => own.length > maxFilesInFolder).map(([folder]) => folder);
}

const sharedNames = new Set(['main', 'deps', 'index']);

/** Files whose base name another file in the same package folder has. */
export function sharedBaseNames(files: string[]): string[] {
  const baseName = (file: string): string => posix.basename(file).replace(/\..*/, '');
  const named = files.filter((file) => !sharedNames.has(baseName(file)));
  const groups = groupBy(named, (file) => `${packageOf(file)}: ${baseName(file)}`);
  return [...groups.values()].filter((group) => group.length > 1).flat();
}

export function longFiles(files: string[], read: (file: string) => string): string[] {
  return files.filter((file) => {
    const lines = read(file).replace(/\n$/, '').split('\n').length;
    return lines > maxLines;
  });
}

function groupBy(files: string[], keyOf: (file: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const file of files) groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  return groups;
}
