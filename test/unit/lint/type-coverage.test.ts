import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

/** Files that `npm run typecheck` leaves out: packages, and files that must not compile. */
const leftOut = /(?:^|\/)(?:node_modules|dist|\.cache)\/|^test\/fixtures\/lint\//;

/** The files that the configuration of a project includes. */
function checkedBy(project: string): string[] {
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const shown = execFileSync(tsc, ['-p', project, '--showConfig'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const { files } = JSON.parse(shown) as { files: string[] }; // tsc's own format
  return files.map((path) => join(project, path));
}

test('every TypeScript file is type-checked', () => {
  const checked = new Set(['.', 'core', 'client', 'dashboard', 'workflows'].flatMap(checkedBy));
  const folders = readdirSync(repository, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules',
  );
  const files = folders.flatMap(({ name }) =>
    readdirSync(join(repository, name), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(name, path),
    ),
  );
  const sources = files.filter((path) => /\.tsx?$/.test(path) && !leftOut.test(path));
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((path) => !checked.has(path))).toEqual([]);
});
