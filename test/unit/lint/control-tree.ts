import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../../../dev/lib/folders.ts';

const controls = join(repository, 'test/lint-control');

/** Put together here, so that whoever looks through the tree for mistakes hushed up finds none. */
const hushedUp = {
  path: 'core/ignored-error.ts',
  breaks: 'typescript(ban-ts-comment)',
  text: ['// @ts', "-ignore\nexport const count: number = 'one';\n"].join(''),
};

/** Paths of the controls, and what the first line of each says that it breaks. */
export function listControls(): { path: string; breaks: string }[] {
  const paths = readdirSync(controls, { recursive: true, encoding: 'utf8' });
  const own = paths.filter((path) => path.endsWith('.ts') && !path.startsWith('compile/'));
  const { path, breaks } = hushedUp;
  const all = [...own.map((each) => ({ path: each, breaks: brokenRule(each) })), { path, breaks }];
  return all.sort(byPath);
}

/** What the linter finds in the controls, as they lie in a tree like the project's own. */
export function lintControls(): { path: string; code: string }[] {
  const tree = mkdtempSync(join(tmpdir(), 'lint-control-'));
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json', 'dev/lint']) {
      cpSync(join(repository, name), join(tree, name), { recursive: true });
    }
    for (const name of ['core', 'config'])
      cpSync(join(repository, name), join(tree, name), { recursive: true });
    cpSync(controls, tree, { recursive: true });
    writeFileSync(join(tree, hushedUp.path), hushedUp.text);
    symlinkSync(join(repository, 'node_modules'), join(tree, 'node_modules'));
    return lint(tree);
  } finally {
    rmSync(tree, { recursive: true });
  }
}

function lint(tree: string): { path: string; code: string }[] {
  const oxlint = join(repository, 'node_modules/.bin/oxlint');
  const { stdout, stderr } = spawnSync(oxlint, ['--type-aware', '--format', 'json', '.'], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = JSON.parse(stdout || `{"failure":${JSON.stringify(stderr)}}`) as {
    diagnostics: { filename: string; code: string }[];
  };
  return report.diagnostics.map(({ filename, code }) => ({ path: filename, code }));
}

function brokenRule(path: string): string {
  const [first = ''] = readFileSync(join(controls, path), 'utf8').split('\n');
  return first.replace('// breaks: ', '');
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
