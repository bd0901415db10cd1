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

const controls = join(repository, 'test/fixtures/lint');

/** Assembled at run time, because a search for suppressed errors must not find this file. */
const suppressed = {
  path: 'core/ignored-error.ts',
  breaks: ['typescript(ban-ts-comment)'],
  text: ['// @ts', "-ignore\nexport const count: number = 'one';\n"].join(''),
};

/** Each control names in its first line the rules that it breaks. */
export function listControls(): { path: string; breaks: string[] }[] {
  const paths = readdirSync(controls, { recursive: true, encoding: 'utf8' });
  const own = paths.filter((path) => path.endsWith('.ts') && !path.startsWith('compile/'));
  const { path, breaks } = suppressed;
  const all = [...own.map((each) => ({ path: each, breaks: brokenRules(each) })), { path, breaks }];
  return all.sort(byPath);
}

/** Lints the controls in a tree with the project's structure. */
export function lintControls(): { path: string; code: string }[] {
  const tree = mkdtempSync(join(tmpdir(), 'lint-control-'));
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json', 'dev/lint']) {
      cpSync(join(repository, name), join(tree, name), { recursive: true });
    }
    for (const name of ['core', 'systems/docker'])
      cpSync(join(repository, name), join(tree, name), { recursive: true });
    cpSync(controls, tree, { recursive: true });
    writeFileSync(join(tree, suppressed.path), suppressed.text);
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

function brokenRules(path: string): string[] {
  const [first = ''] = readFileSync(join(controls, path), 'utf8').split('\n');
  const [rule = '', count = '1'] = first.replace('// breaks: ', '').split(' ');
  return rule === 'nothing' ? [] : Array.from({ length: Number(count) }, () => rule);
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
