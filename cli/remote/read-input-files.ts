import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import type { FileContent } from '../../client/index.ts';
import { CliError } from '../format-error.ts';

/** Folders that are too large to send, and that a run can restore if it needs them. */
const skippedFolders = new Set(['.git', 'node_modules']);

/**
 * Reads files and folders. A path in the current folder keeps its place below the working directory
 * of the run. A path outside is put directly into that directory.
 */
export function readInputFiles(paths: string[]): FileContent[] {
  const here = realpathSync(process.cwd());
  return paths.flatMap((path) => {
    const target = resolvedPath(path);
    const inside = relative(here, target);
    const isInside = inside !== '..' && !inside.startsWith(`..${sep}`);
    return filesAt(target, isInside ? inside : basename(target));
  });
}

function resolvedPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as Error).message}`);
  }
}

function filesAt(path: string, place: string): FileContent[] {
  if (statSync(path).isDirectory()) return filesBelow(path, place);
  return [fileAt(path, place)];
}

/** Links are left out, because they may lead anywhere. */
function filesBelow(folder: string, place: string): FileContent[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const [path, below] = [join(folder, entry.name), join(place, entry.name)];
    if (entry.isFile()) return [fileAt(path, below)];
    return entry.isDirectory() && !skippedFolders.has(entry.name) ? filesBelow(path, below) : [];
  });
}

function fileAt(path: string, place: string): FileContent {
  const isExecutable = (statSync(path).mode & 0o100) !== 0;
  return {
    path: place.split(sep).join('/'),
    content: readFileSync(path),
    mode: isExecutable ? '0755' : '0644',
  };
}
