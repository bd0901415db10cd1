// Reads the arguments of `npm test -- …` as vitest does: an argument that is no option selects the
// test files whose path contains it.

import { readdirSync } from 'node:fs';
import { isAbsolute, join, normalize, relative } from 'node:path';
import { repository } from '../lib/folders.ts';
import { SetupError } from '../lib/setup-error.ts';

const optionsWithValue = new Set(['-t', '--testNamePattern', '--project', '--bail', '--reporter']);

export interface Selection {
  /** Relative paths. Empty without a filter, which selects all tests. */
  files: string[];
  /** The value of `--project`. */
  project: string | undefined;
}

/** Throws if a filter matches nothing. */
export function selectTests(args: string[]): Selection {
  const all = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`);
  const files = filtersIn(args).flatMap((filter) => {
    const matches = all.filter((file) => file.includes(filter));
    if (matches.length > 0) return matches;
    throw new SetupError(`No test file's path contains ${filter}.`);
  });
  return { files, project: projectIn(args) };
}

export function needsStack({ files, project }: Selection): boolean {
  if (project !== undefined) return project !== 'unit';
  return files.some((file) => !file.startsWith('test/unit/'));
}

/** Without the line number of `<file>:<line>`. */
function filtersIn(args: string[]): string[] {
  return args
    .filter((arg, index) => !arg.startsWith('-') && !optionsWithValue.has(args[index - 1] ?? ''))
    .map((filter) => filter.replace(/:\d+$/, ''))
    .map((filter) => (isAbsolute(filter) ? relative(repository, filter) : normalize(filter)));
}

function projectIn(args: string[]): string | undefined {
  const index = args.indexOf('--project');
  const joined = args.find((arg) => arg.startsWith('--project='));
  return index < 0 ? joined?.slice('--project='.length) : args[index + 1];
}
